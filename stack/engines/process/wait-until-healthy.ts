import { setTimeout as pause } from 'node:timers/promises';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Installation } from '../../state/installation.ts';
import { readRecord } from '../../state/platform-record.ts';
import { isAlive, type ProcessIdentity } from '../../state/process-identity.ts';
import { isUp, type ServiceState } from '../../state/transition.ts';
import { explainFailure } from './explain-failure.ts';
import { reportStates } from './report-states.ts';

export interface WaitOptions {
  readonly installation: Installation;
  readonly platform: ProcessIdentity;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onState?: (name: string, state: ServiceState) => void;
}

/** Reading the record takes a fraction of a millisecond, a start hundreds of milliseconds. */
const lookIntervalMs = 8;

/**
 * Follows the record until every service is healthy or kept out. Throws why the platform ended, `timeout` after this time without a change,
 * or `cancelled`.
 */
export async function waitUntilHealthy({
  installation,
  platform,
  timeoutMs,
  signal,
  onState = () => undefined,
}: WaitOptions): Promise<void> {
  const since = Date.now();
  let deadline = performance.now() + timeoutMs;
  const report = reportStates(onState);
  for (;;) {
    // Asked before the record is read, so that the last record of a platform that ended is not missed.
    const alive = isAlive(platform);
    const record = readRecord(installation);
    const services = record?.pid === platform.pid ? record.services : [];
    if (report(services)) deadline = performance.now() + timeoutMs;
    if (!alive) throw await explainFailure(installation, { pid: platform.pid, since });
    if (services.length > 0 && services.every(isUp)) return;
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
