import type { Figure } from './figure.ts';

/** The figures as a Markdown table, so that it can be pasted where it is read. */
export function table(figures: readonly Figure[]): string {
  const mark = (figure: Figure) => (figure.reached === null ? '' : figure.reached ? 'yes' : 'NO');
  const rows = figures.map((figure) => `| ${figure.what} | ${figure.value} | ${figure.target} | ${mark(figure)} |`);
  return ['| what | measured | to reach | reached |', '|---|---|---|---|', ...rows].join('\n');
}
