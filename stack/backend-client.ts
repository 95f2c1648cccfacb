import { SvcError } from '../services/contracts/errors.ts';
import type { Installation } from './installation.ts';

/** GraphQL as an operator. `parse` makes a precise type of what came back, and throws where it is something else. */
export interface BackendClient {
  query<Result>(
    document: string,
    variables: Readonly<Record<string, unknown>>,
    parse: (data: unknown) => Result,
    options?: QueryOptions,
  ): Promise<Result>;
}

export interface QueryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default 10 s. */
  readonly timeoutMs?: number;
}

/** A client of the backend that runs in this installation; `unavailable` where none does. */
export async function connectToBackend(_installation: Installation): Promise<BackendClient> {
  throw new SvcError('unsupported', 'The backend cannot be reached yet.');
}
