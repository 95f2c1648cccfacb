import { SvcError } from '../../contracts/errors.ts';
import {
  type DeadlineName,
  type Deadlines,
  deadlineRanges,
  deadlineRule,
} from '../../contracts/mcp-server-deadlines.ts';

export const noDeadlines: Deadlines = { startTimeout: null, callTimeout: null };

type Given = { readonly [Name in DeadlineName]?: number | null | undefined };

/** The deadlines after a change. An absent one stays, and 0 stands for the setting of the platform. */
export function parseDeadlines(given: Given, before: Deadlines): Deadlines {
  return {
    startTimeout: parse('startTimeout', given.startTimeout, before.startTimeout),
    callTimeout: parse('callTimeout', given.callTimeout, before.callTimeout),
  };
}

function parse(name: DeadlineName, given: number | null | undefined, before: number | null): number | null {
  if (given === undefined || given === null) return before;
  if (given === 0) return null;
  const range = deadlineRanges[name];
  if (Number.isInteger(given) && given >= range.min && given <= range.max) return given;
  throw new SvcError('invalid_input', `"${name}" is ${given}: it must be ${deadlineRule(range)}.`);
}
