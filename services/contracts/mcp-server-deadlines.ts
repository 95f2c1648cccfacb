/** The deadlines of one MCP server, in seconds; null: those of the platform. */
export interface Deadlines {
  /** From its launch to its list of tools. */
  readonly startTimeout: number | null;
  /** How long a call may be without an answer and without progress. */
  readonly callTimeout: number | null;
}

export type DeadlineName = keyof Deadlines;

export interface DeadlineRange {
  readonly min: number;
  readonly max: number;
  /** Of a platform without a setting. */
  readonly usual: number;
}

/** The first start of an `npx` downloads. No call lasts longer than 30 minutes in all. */
export const deadlineRanges: { readonly [Name in DeadlineName]: DeadlineRange } = {
  startTimeout: { min: 1, max: 1800, usual: 60 },
  callTimeout: { min: 1, max: 1800, usual: 60 },
};

/** How an operator changes a deadline that was too short. */
export function howToRaise(name: DeadlineName, { mcpServer, isMs }: { mcpServer: string; isMs: number }): string {
  const seconds = Math.min(deadlineRanges[name].max, Math.ceil((5 * isMs) / 1000));
  const flag = name === 'startTimeout' ? '--start-timeout' : '--call-timeout';
  return `Allow more time: svc server update ${mcpServer} ${flag} ${seconds}`;
}

export const deadlineRule = ({ min, max }: DeadlineRange) =>
  `a number of seconds from ${min} to ${max}, or 0 for the setting of the platform`;
