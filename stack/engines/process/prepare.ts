import { SvcError } from '../../../services/contracts/errors.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { describeEnd } from '../../lifecycle/unwanted-end.ts';
import { describeNodeLoss } from '../../place/kept-data.ts';
import { changesBetween, partsThatDiffer, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { hasEnded, sendSignal } from '../../state/end-process.ts';
import type { RunningPlatform } from '../../state/find-running.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import { isSilent } from '../../state/heartbeat.ts';
import type { Installation } from '../../state/installation.ts';
import type { EngineStart, Prepared } from '../engine.ts';
import { prepareSandbox } from '../sandbox/prepare-sandbox.ts';
import { findUnwantedEnd } from './find-unwanted-end.ts';
import { clearStaleRecord, stopRunning } from './running-platform.ts';
import { startInBackground, startInForeground } from './start.ts';
import { waitUntilHealthy } from './wait-until-healthy.ts';

/** Compares a plan with the processes that run. */
export async function prepareProcesses(
  plan: Plan,
  found: RunningPlatform | null,
  { installation, env, signal, onNotice, onState }: EngineStart,
): Promise<Prepared> {
  const cleared = found === null ? await clearStaleRecord(installation) : null;
  if (cleared !== null) onNotice(cleared);
  await prepareSandbox(plan.definition, { env, signal, onNotice });
  const before = found?.record?.settings ?? null;
  const after = settingsOf(plan);
  const changes = before === null ? null : changesBetween(before, after);
  const isSupervised = found !== null && !found.isAbandoned;
  const concernsAll = found?.record?.topology !== 'distributed' || partsThatDiffer(before ?? {}, after) === null;
  let running = found;
  const stop = async () => {
    if (running === null) return;
    if (isSupervised && !changes?.length) onNotice(`${whyNotKept(running)}: it restarts.`);
    await stopRunning(installation, running, { signal, onNotice });
    running = null;
  };
  /** Leaves the parts of a running platform to the supervisor that starts. */
  const makeWay = async () => {
    if (running?.isAbandoned) await tellTakeover(installation, onNotice);
    else if (running !== null) await endSupervisor(running);
  };
  return {
    ...{ changes, isFresh: found === null },
    // A platform in a terminal ends there.
    mustStop: isSupervised && (concernsAll || found.record?.foreground === true),
    isCurrent: async () => {
      if (!isSupervised || changes?.length !== 0) return false;
      if (found.record?.topology === 'distributed' && (await isSilent(installation, signal))) return false;
      return becomesHealthy(found, plan, signal);
    },
    // The running platform keeps reading and calling on a full disk, on which it could not start again.
    refuseFullDisk: async () => refuseFullDisk(installation),
    stop,
    async apply() {
      await makeWay();
      await startInBackground({ plan, env, signal, onState });
    },
    async applyInForeground(onReady) {
      await makeWay();
      await startInForeground({ plan, env, signal, onState, onHealthy: onReady });
    },
  };
}

/** SIGKILL, because a kill at any moment must be safe in any case, and because a supervisor may not respond. */
async function endSupervisor(supervisor: RunningPlatform): Promise<void> {
  sendSignal(supervisor, 'SIGKILL');
  if (await hasEnded(supervisor, endTimeoutMs)) return;
  throw new SvcError('unavailable', `The supervisor (pid ${supervisor.pid}) does not end.`, {
    hint: 'See how it is: svc status',
  });
}

const endTimeoutMs = 5_000;

async function tellTakeover(installation: Installation, onNotice: (message: string) => void): Promise<void> {
  const end = await findUnwantedEnd(installation);
  if (end !== null) onNotice(`${describeEnd(end)} Its parts are kept.`);
}

/** A platform that another command starts, or whose part restarts, gets this long before it is started again. */
const patienceMs = 10_000;

async function becomesHealthy({ record }: RunningPlatform, plan: Plan, signal: AbortSignal): Promise<boolean> {
  const { installation } = plan;
  if (record === null) return false;
  // A part that the supervisor gave up does not recover by itself.
  if (record.services.some(({ state }) => state === 'failed')) return false;
  const lost = record.services.filter(({ state }) => state === 'lost');
  if (lost.some(({ name }) => describeNodeLoss(installation, name) === null)) return false;
  const timeoutMs = patienceMs;
  try {
    await waitUntilHealthy({ installation, platform: record, timeoutMs, signal });
    const started = record.services.filter((service) => !lost.includes(service));
    await Promise.all(started.map(({ ready }) => waitUntilReady(ready, { timeoutMs, signal })));
    return true;
  } catch (error) {
    if (signal.aborted) throw error;
    return false;
  }
}

function whyNotKept({ pid, record }: RunningPlatform): string {
  return record === null
    ? `The platform (pid ${pid}) runs, but state/ does not say how`
    : `The platform (pid ${pid}) is not healthy`;
}
