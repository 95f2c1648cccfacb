import { median } from './load.ts';

/** One figure: what was measured, what was to be reached, and whether it was. */
export interface Figure {
  readonly what: string;
  readonly value: string;
  readonly target: string;
  /** Null when the figure is only reported. */
  readonly reached: boolean | null;
  /** The numbers behind it. */
  readonly numbers: Numbers;
}

type Numbers = Readonly<Record<string, number | readonly number[]>>;

export function reported(what: string, value: number, unit: string, numbers: Numbers = {}): Figure {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
  const said = `${value.toFixed(digits)} ${unit}`;
  return { what, value: said, target: 'reported', reached: null, numbers: { value, ...numbers } };
}

export function atMost(what: string, value: number, limit: number, unit: string, numbers?: Numbers): Figure {
  return { ...reported(what, value, unit, numbers), target: `≤ ${limit} ${unit}`, reached: value <= limit };
}

/** The median of times in ms, which is only reported if it has no limit. */
export function medianMs(what: string, times: readonly number[], limitMs?: number): Figure {
  const value = median(times);
  return limitMs === undefined ? reported(what, value, 'ms', { times }) : atMost(what, value, limitMs, 'ms', { times });
}

export function atLeast(what: string, value: number, limit: number, unit: string, numbers?: Numbers): Figure {
  return { ...reported(what, value, unit, numbers), target: `≥ ${limit} ${unit}`, reached: value >= limit };
}

/** A figure that this machine cannot measure. */
export function skipped(what: string, why: string): Figure {
  return { what, value: 'skipped', target: why, reached: null, numbers: {} };
}

/** The figures as a Markdown table, so that it can be pasted where it is read. */
export function table(figures: readonly Figure[]): string {
  const mark = (figure: Figure) => (figure.reached === null ? '' : figure.reached ? 'yes' : 'NO');
  const rows = figures.map((figure) => `| ${figure.what} | ${figure.value} | ${figure.target} | ${mark(figure)} |`);
  return ['| what | measured | to reach | reached |', '|---|---|---|---|', ...rows].join('\n');
}
