import { SvcError } from '../contracts/errors.ts';
import { withoutHidden } from '../contracts/hidden-characters.ts';
import { inWordsAlone, systemWords } from '../contracts/system-words.ts';

/** What a process says last whose service could not start: why and what helps, or of a fault of our own where it happened. */
export function whyUnstarted(error: unknown): string {
  return withoutHidden(reasonOf(error));
}

function reasonOf(error: unknown): string {
  if (error instanceof SvcError) return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`;
  const isOurs = systemWords(error) === null && error instanceof Error;
  return isOurs && error.stack !== undefined ? error.stack : inWordsAlone(error);
}
