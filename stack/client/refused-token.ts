import { describeClocks, setClock } from '../../services/contracts/clocks.ts';
import { SvcError } from '../../services/contracts/errors.ts';

/** The time of the answer, on the clock of the answering service; null if unknown. */
export interface AnsweredBy {
  readonly dateMs: number | null;
  /** As in "behind the backend's". */
  readonly whose: string;
}

/** A new token of an operator is refused as expired by a service with another clock: then the clocks are the reason. */
export function explainRefusedToken(error: SvcError, { dateMs, whose }: AnsweredBy): SvcError {
  if (error.code !== 'unauthenticated' || dateMs === null) return error;
  const clocks = describeClocks({ hereMs: Date.now(), thereMs: dateMs, whose });
  if (clocks === null) return error;
  return new SvcError('unauthenticated', `The platform refused the operator's token. ${clocks}`, {
    hint: setClock,
    cause: error,
  });
}
