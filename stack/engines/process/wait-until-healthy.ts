import { setTimeout as pause } from 'node:timers/promises';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Installation } from '../../state/installation.ts';
import { readFailure, readRecord, removeFailure, type ServiceRecord } from '../../state/platform-record.ts';
import { isAlive, type ProcessIdentity } from '../../state/process-identity.ts';
import { isPlatformUp, isUp, type ServiceState } from '../../state/transition.ts';
import { explain, explainFailure } from './explain-failure.ts';
import { reportStates } from './report-states.ts';

export interface WaitOptions {
  readonly installation: Installation;
  readonly platform: ProcessIdentity;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onState?: (name: string, state: ServiceState) => void;
  /** The parts that ran before. Only changes of them are reported. */
  readonly before?: readonly ServiceRecord[];
}

/** Reading the record takes a fraction of a millisecond, a start hundreds of milliseconds. */
const lookIntervalMs = 8;

/**
 * Follows the record until every service is healthy or kept out. Throws why the platform ended or a part failed, `timeout` after this time
 * without a change, or `cancelled`.
 */
export async function waitUntilHealthy({
  installation,
  platform,
  timeoutMs,
  signal,
  onState = () => undefined,
  before = [],
}: WaitOptions): Promise<void> {
  const since = Date.now();
  let deadline = performance.now() + timeoutMs;
  const report = reportStates(onState, before);
  for (;;) {
    // Asked before the record is read, so that the last record of a platform that ended is not missed.
    const alive = isAlive(platform);
    const record = readRecord(installation);
    const own = record?.pid === platform.pid ? record : null;
    const services = own?.services ?? [];
    if (report(services)) deadline = performance.now() + timeoutMs;
    if (!alive) throw await explainFailure(installation, { pid: platform.pid, since });
    if (own !== null && isPlatformUp(own)) return;
    const failure = own === null || own.isChanging ? null : readFailure(installation);
    if (failure?.pid === platform.pid) {
      // The platform goes on, so that a later command must not take this for its end.
      removeFailure(installation);
      throw await explain(installation, failure, since);
    }
    if (performance.now() >= deadline) {
      const late = services.filter((service) => !isUp(service)).map(({ name }) => name);
      throw new SvcError('timeout', `Not healthy within ${timeoutMs / 1000} s: ${late.join(', ') || 'the platform'}.`, {
        hint: `svc logs ${late[0] ?? 'platform'}`,
      });
    }
    await pause(lookIntervalMs, undefined, { signal }).catch((error: unknown) => {
      throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    });
  }
}
