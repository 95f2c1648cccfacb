import { hourMs } from '../services/contracts/usage-hour.ts';
import { type BackendClient, connectToBackend } from '../stack/client/backend-client.ts';
import { everyPage } from '../stack/client/every-page.ts';
import { callSumsQuery } from '../stack/client/generated/operations.ts';
import type { Installation } from '../stack/state/installation.ts';

export interface CallRate {
  readonly callsPerSecond: number;
  readonly errorsPerSecond: number;
}

/** The calls of all workspaces since the hour began. */
export interface CallSum {
  readonly at: number;
  readonly hour: number;
  readonly calls: number;
  readonly errors: number;
}

/** The backend adds usage up once a second, so that a shorter time would show jumps. */
const windowMs = 10_000;

/** Calls a second, from sums that were read one after the other. */
export class CallRates {
  #sums: CallSum[] = [];

  /** Null until two sums of the same hour are there. */
  add(sum: CallSum): CallRate | null {
    this.#sums = [...this.#sums.filter(({ at, hour }) => hour === sum.hour && sum.at - at <= windowMs), sum];
    const [first] = this.#sums;
    if (first === undefined || first.at === sum.at) return null;
    const seconds = (sum.at - first.at) / 1000;
    return {
      callsPerSecond: (sum.calls - first.calls) / seconds,
      errorsPerSecond: (sum.errors - first.errors) / seconds,
    };
  }
}

/** Null while the backend does not answer, or when there is more usage than is read each second. */
export async function readCallSum(installation: Installation, signal: AbortSignal): Promise<CallSum | null> {
  try {
    return await sumOf(await connectToBackend(installation), signal);
  } catch {
    return null; // The status itself says what is wrong.
  }
}

async function sumOf(backend: BackendClient, signal: AbortSignal): Promise<CallSum | null> {
  const at = Date.now();
  const hour = at - (at % hourMs);
  const workspaces = await everyPage(
    async (page) => (await backend.send(callSumsQuery, { from: hour, ...page }, { signal })).workspaces,
  );
  if (workspaces.some(({ usage }) => usage.pageInfo.next !== null)) return null;
  const rows = workspaces.flatMap(({ usage }) => usage.nodes);
  const sum = (field: 'calls' | 'errors') => rows.reduce((total, row) => total + row[field], 0);
  return { at, hour, calls: sum('calls'), errors: sum('errors') };
}
