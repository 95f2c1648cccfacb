import { actionInWords } from '../../services/contracts/activity-words.ts';
import type { HistoryEntry } from '../history.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

/** One row for each entry. */
export function describeHistory(entries: readonly HistoryEntry[], terminal: Terminal): string {
  const rows = entries.map((entry) => [moment(entry), entry.by, whatOf(entry)]);
  return table(['WHEN (UTC)', 'WHO', 'WHAT'], rows, terminal.columns);
}

function moment({ at, kind }: HistoryEntry): string {
  const text = new Date(at).toISOString().replace('T', ' ');
  return kind === 'calls' ? `${text.slice(0, 13)}h` : text.slice(0, 19);
}

function whatOf(entry: HistoryEntry): string {
  if (entry.kind === 'calls') {
    const { tool, calls, errors } = entry;
    const failed = errors === 0 ? '' : `, ${errors} failed`;
    return `called ${tool} ${calls === 1 ? 'once' : `${calls} times`}${failed}`;
  }
  const fields = entry.action === 'update' ? Object.keys(entry.changes).join(', ') : '';
  return `${actionInWords(entry)}${fields === '' ? '' : `: ${fields}`}`;
}
