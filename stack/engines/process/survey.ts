import { SvcError } from '../../../services/contracts/errors.ts';
import { restartByService } from '../../boot/boot-service.ts';
import { keptInFiles } from '../../graph/graph-data.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { describeNodeLoss, findLosses, forgetData, hasLostSessions } from '../../place/kept-data.ts';
import { changesBetween, partsThatDiffer, settingsOf } from '../../plan/differences.ts';
import type { Plan } from '../../plan/plan.ts';
import { withSearchPath } from '../../plan/search-path.ts';
import { hasEnded, sendSignal } from '../../state/end-process.ts';
import { findRunning, type RunningPlatform } from '../../state/find-running.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import { isSilent } from '../../state/heartbeat.ts';
import type { Installation } from '../../state/installation.ts';
import type { EngineStart, PartNames, Prepared, Survey } from '../engine.ts';
import { portPatienceMs } from './part-runner.ts';
import { startInBackground, startInForeground, waitUntilHealthy } from './start.ts';
import { clearStaleRecord, stopRunning, tellEnd } from './stop.ts';
import { hasPort } from './take-over.ts';

/** Finds the processes of a platform. Refuses a second platform in the foreground. */
export async function surveyProcesses(start: EngineStart): Promise<Survey> {
  const { installation, foreground, onNotice } = start;
  const running = findRunning(installation);
  if (running !== null && foreground && !running.isAbandoned) throw runsAlready(running, installation);
  return {
    ownsPort: (port) => running !== null && hasPort(running, port),
    portPatienceMs: running === null ? portPatienceMs : 0,
    keptBy: keptInFiles(installation),
    async findLosses({ definition }) {
      if (hasLostSessions(installation, definition)) {
        onNotice('The data of the bus is missing: agents begin new sessions, and nothing else is lost.');
      }
      return findLosses(installation, definition);
    },
    forget: async (paths, { definition }) => forgetData(installation, definition, paths),
    prepare: (plan, restart) => prepareProcesses(plan, { found: running, restart, start }),
  };
}

function runsAlready({ pid, record }: RunningPlatform, installation: Installation): SvcError {
  if (record?.foreground) {
    const where = `pid ${pid}, in the foreground of another terminal`;
    return new SvcError('conflict', `The platform runs already (${where}): ${record.urls.app}`, {
      hint: hintFor(restartByService(installation)),
    });
  }
  return new SvcError('conflict', `The platform runs already, in the background (pid ${pid}).`, {
    hint: 'Stop it first: svc down, then svc up --foreground',
  });
}

function hintFor(restart: string | null): string {
  const stop = 'Press Ctrl-C there to stop it.';
  return restart === null ? stop : `If its service at boot started it: ${restart}\nOtherwise: ${stop}`;
}

interface Preparing {
  readonly found: RunningPlatform | null;
  readonly restart: PartNames;
  readonly start: EngineStart;
}

async function prepareProcesses(given: Plan, { found, restart, start }: Preparing): Promise<Prepared> {
  const plan = withSearchPath(given, start.env);
  const { installation, foreground, signal, onNotice } = start;
  if (restart.size > 0 && found?.record?.foreground) throw runsAlready(found, installation);
  if (found === null) await clearStaleRecord(installation, onNotice);
  if (plan.definition.runtime.sandbox === 'container') {
    const { fetchImage } = await import('../sandbox/containers.ts');
    await fetchImage(plan.definition, start);
  }
  const before = found?.record?.settings ?? null;
  const after = settingsOf(plan);
  const changes = before === null ? null : changesBetween(before, after);
  const isSupervised = found !== null && !found.isAbandoned;
  const concernsAll = found?.record?.topology !== 'distributed' || partsThatDiffer(before ?? {}, after) === null;
  let running = found;
  const stop = async () => {
    if (running === null) return;
    if (restart.size > 0 && restart.size < plan.parts.length && found?.record?.topology === 'embedded') {
      onNotice(`All services run in one process (pid ${running.pid}), so all of them restart.`);
    }
    if (isSupervised && !changes?.length && restart.size === 0) onNotice(`${whyNotKept(running)}: it restarts.`);
    // Without the signal: a platform that was told to stop is not left half stopped.
    await stopRunning(installation, running, { onNotice });
    running = null;
  };
  /** Leaves the parts of a running platform to the supervisor that starts. */
  const makeWay = async () => {
    if (running?.isAbandoned) await tellEnd(installation, onNotice, ' Its parts are kept.');
    else if (running !== null) await endSupervisor(running);
  };
  return {
    ...{ changes, isFresh: found === null },
    // A platform in a terminal ends there.
    mustStop: isSupervised && (concernsAll || found.record?.foreground === true),
    isCurrent: async () => {
      if (!isSupervised || changes?.length !== 0 || restart.size > 0) return false;
      if (found.record?.topology === 'distributed' && (await isSilent(installation, signal))) return false;
      return becomesHealthy(found, plan, signal);
    },
    // The running platform keeps reading and calling on a full disk, on which it could not start again.
    refuseFullDisk: async () => refuseFullDisk(installation),
    stop,
    async apply() {
      await makeWay();
      if (foreground) return startInForeground({ ...start, plan });
      await startInBackground({ ...start, plan, restart });
      return { ended: Promise.resolve() };
    },
  };
}

/** SIGKILL, because a kill at any moment must be safe in any case, and because a supervisor may not respond. */
async function endSupervisor(supervisor: RunningPlatform): Promise<void> {
  sendSignal(supervisor, 'SIGKILL');
  if (await hasEnded(supervisor, endTimeoutMs)) return;
  throw new SvcError('unavailable', `The supervisor (pid ${supervisor.pid}) does not end.`, {
    hint: 'Show its state: svc status',
  });
}

const endTimeoutMs = 5_000;

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
