import { type SvcError, toSvcError } from '../../../services/contracts/errors.ts';
import { fileFailure } from '../../state/file-failure.ts';

/** The platform failed to start, at one part and one check. */
export class StartFailure extends Error {
  /** The name of the part, or `platform`. */
  readonly part: string;
  readonly check: string;
  readonly error: SvcError;

  constructor(part: string, check: string, thrown: unknown) {
    const error = fileFailure(thrown) ?? toSvcError(thrown);
    super(`${part}: ${check}: ${error.message}`, { cause: thrown });
    this.part = part;
    this.check = check;
    this.error = error;
  }
}

export async function step<Result>(part: string, check: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    throw thrown instanceof StartFailure ? thrown : new StartFailure(part, check, thrown);
  }
}
