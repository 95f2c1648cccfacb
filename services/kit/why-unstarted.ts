import { SvcError } from '../contracts/errors.ts';
import { withoutHidden } from '../contracts/hidden-characters.ts';
import { inWordsAlone, systemWords } from '../contracts/system-words.ts';

/** The last message of a process whose service could not start: the reason and the repair, or for a bug its location. */
export function whyUnstarted(error: unknown): string {
  return withoutHidden(reasonOf(error));
}

function reasonOf(error: unknown): string {
  if (error instanceof SvcError) return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`;
  const isOurs = systemWords(error) === null && error instanceof Error;
  return isOurs && error.stack !== undefined ? error.stack : inWordsAlone(error);
}
