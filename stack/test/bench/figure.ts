/** One figure: what was measured, what was to be reached, and whether it was. */
export interface Figure {
  readonly what: string;
  readonly value: string;
  readonly target: string;
  /** Null where the figure is only reported. */
  readonly reached: boolean | null;
  /** The numbers behind it. */
  readonly numbers: Readonly<Record<string, number | readonly number[]>>;
}

export function atMost(
  what: string,
  value: number,
  limit: number,
  unit: string,
  numbers: Figure['numbers'] = {},
): Figure {
  return {
    what,
    value: `${said(value)} ${unit}`,
    target: `≤ ${limit} ${unit}`,
    reached: value <= limit,
    numbers: { value, ...numbers },
  };
}

export function atLeast(
  what: string,
  value: number,
  limit: number,
  unit: string,
  numbers: Figure['numbers'] = {},
): Figure {
  return {
    what,
    value: `${said(value)} ${unit}`,
    target: `≥ ${limit} ${unit}`,
    reached: value >= limit,
    numbers: { value, ...numbers },
  };
}

export function reported(what: string, value: number, unit: string, numbers: Figure['numbers'] = {}): Figure {
  return { what, value: `${said(value)} ${unit}`, target: 'reported', reached: null, numbers: { value, ...numbers } };
}

/** A figure that this machine cannot measure. */
export function skipped(what: string, why: string): Figure {
  return { what, value: 'skipped', target: why, reached: null, numbers: {} };
}

function said(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
