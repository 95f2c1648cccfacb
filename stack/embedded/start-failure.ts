import { type SvcError, toSvcError } from '../../services/contracts/errors.ts';
import type { ListenerName } from '../definition/definition.ts';
import { fileFailure } from '../state/file-failure.ts';

export type FailingPart = ListenerName | 'platform';

/** The start of the platform failed at one part, in one check. */
export class StartFailure extends Error {
  readonly part: FailingPart;
  readonly check: string;
  readonly error: SvcError;

  constructor(part: FailingPart, check: string, thrown: unknown) {
    const error = fileFailure(thrown) ?? toSvcError(thrown);
    super(`${part}: ${check}: ${error.message}`, { cause: thrown });
    this.part = part;
    this.check = check;
    this.error = error;
  }
}

export async function step<Result>(part: FailingPart, check: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    throw thrown instanceof StartFailure ? thrown : new StartFailure(part, check, thrown);
  }
}
