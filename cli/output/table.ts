/**
 * Columns without borders: a header, rows, two spaces between. Widths count what is seen, not the colour codes. A row stays one line,
 * whatever an MCP server said last.
 */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows].map((row) => row.map((cell) => cell.replace(/\s*\n\s*/g, ' · ')));
  const widths = header.map((_, column) => Math.max(...all.map((row) => seenWidth(row[column] ?? ''))));
  return all.map((row) => line(row, widths)).join('\n');
}

function line(row: readonly string[], widths: readonly number[]): string {
  const last = row.length - 1;
  return row
    .map((cell, column) => (column === last ? cell : cell + ' '.repeat((widths[column] ?? 0) - seenWidth(cell))))
    .join('  ')
    .trimEnd();
}

const colourCode = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');

function seenWidth(cell: string): number {
  return [...cell.replace(colourCode, '')].length;
}
