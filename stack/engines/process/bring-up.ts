import { SvcError } from '../../../services/contracts/errors.ts';
import { areOtherNodes, changeNodes } from '../../content/change-nodes.ts';
import { fillNodes } from '../../graph/fill-nodes.ts';
import type { BringUp } from '../../lifecycle/bring-up.ts';
import { makeReady } from '../../lifecycle/make-ready.ts';
import type { ServiceStatus } from '../../lifecycle/platform-status.ts';
import { preparePlan } from '../../lifecycle/prepare-plan.ts';
import type { UpResult } from '../../lifecycle/progress.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { awaitCertificate } from '../../lifecycle/served-certificate.ts';
import { describeEnd } from '../../lifecycle/unwanted-end.ts';
import { forgetData, settleLostData } from '../../place/kept-data.ts';
import { lossOf } from '../../place/loss-of.ts';
import { changesBetween, settingsOf } from '../../plan/differences.ts';
import { readDefinition } from '../../settings/check.ts';
import { findRunning, type RunningPlatform } from '../../state/find-running.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import type { Installation } from '../../state/installation.ts';
import type { PlatformRecord } from '../../state/platform-record.ts';
import { readRecord } from '../../state/platform-record.ts';
import { planner } from '../plan-of.ts';
import { prepareSandbox } from '../sandbox/prepare-sandbox.ts';
import { applyToRunning } from './apply-to-running.ts';
import { busInFolders } from './bus-in-folders.ts';
import { checkFrontPorts } from './check-front-ports.ts';
import { checkPrograms } from './check-programs.ts';
import { findUnwantedEnd } from './find-unwanted-end.ts';
import { hasPort } from './has-port.ts';
import { nodesInFolders } from './nodes-in-folders.ts';
import { clearStaleRecord, stopRunning } from './running-platform.ts';
import { startInBackground, startInForeground } from './start.ts';
import { statusOfProcesses } from './status.ts';
import { waitUntilHealthy } from './wait-until-healthy.ts';

/** Makes the platform run as processes: what differs is started anew, the rest goes on. */
export async function bringUpProcesses(options: BringUp): Promise<UpResult> {
  const { installation, env, foreground, onProgress, signal, avoid, release } = options;
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const onState = (name: string, state: ServiceStatus['state']) => onProgress({ kind: 'service', name, state });
  await restoreLostNodes(options, onNotice);
  const running = findRunning(installation);
  if (running !== null && foreground && !running.isAbandoned) throw runsAlready(running);
  const plan = await preparePlan({
    installation,
    planner,
    check: (definition) => checkPrograms(definition, env.PATH),
    checkPorts: (definition, ports) => checkFrontPorts(definition, ports, env.PATH),
    ownsPort: (port) => running !== null && hasPort(running, port),
    portPatienceMs: running === null && readRecord(installation) !== null ? lettingGoMs : 0,
    avoid,
    onNotice,
  });
  await makeReady(plan, onNotice);
  const cleared = running === null ? await clearStaleRecord(installation) : null;
  if (cleared !== null) onNotice(cleared);
  await prepareSandbox(plan.definition, { signal, onNotice });
  const ready = async () => {
    await awaitCertificate(plan, { signal, onNotice });
    const reached = await statusOfProcesses(installation, signal);
    onProgress({ kind: 'ready', status: reached });
    return reached;
  };
  const record = running?.record ?? null;
  const changes = record === null ? [] : changesBetween(record.settings, settingsOf(plan));
  if (record !== null) {
    onProgress({ kind: 'plan', changes });
    const isWhole = running?.isAbandoned === false && changes.length === 0;
    if (isWhole && (await becomesHealthy(installation, record, signal))) {
      return { outcome: 'unchanged', changes, status: await ready() };
    }
  }
  // Before what runs is stopped: it goes on reading and calling on a full disk, on which it could not be started.
  refuseFullDisk(installation);
  if (running?.isAbandoned) await tellTakeover(installation, onNotice);
  if (running !== null && !running.isAbandoned) {
    if (await applyToRunning({ installation, running, plan, signal, onNotice, onState })) {
      return { outcome: 'restarted', changes, status: await ready() };
    }
    if (changes.length === 0) onNotice(`${whyNotKept(running)}: it is started anew.`);
    await stopRunning(installation, running, { signal, onNotice });
  }
  const places = busInFolders(installation, env);
  if (areOtherNodes(plan, places)) {
    // What a killed platform left running is not taken over then.
    if (running?.isAbandoned) await stopRunning(installation, running, { signal, onNotice });
    await changeNodes({ plan, places, signal, onNotice });
  }
  for (const port of Object.values(plan.ports)) avoid.add(port);
  if (foreground) {
    const onHealthy = async () => {
      release();
      await ready();
    };
    await startInForeground({ plan, env, signal, onState, onHealthy });
    return { outcome: 'stopped', changes, status: await statusOfProcesses(installation) };
  }
  await startInBackground({ plan, env, signal, onState });
  return { outcome: running === null ? 'started' : 'restarted', changes, status: await ready() };
}

/** A process that was killed is gone a moment before its ports are. */
const lettingGoMs = 1000;

/** Refuses lost data, or gives nodes of Dgraph that lost theirs a copy where the operator agrees. */
async function restoreLostNodes({ installation, startEmpty, signal }: BringUp, onNotice: (message: string) => void) {
  const definition = readDefinition(installation.definitionFile);
  const settled = await settleLostData({ installation, definition, startEmpty, mayKeepOut: true, onNotice });
  const places = nodesInFolders({ installation, signal, onNotice });
  await fillNodes({ definition, nodes: settled.copied, places, onNotice });
  forgetData(installation, definition, settled.forgotten);
}

async function tellTakeover(installation: Installation, onNotice: (message: string) => void): Promise<void> {
  const end = await findUnwantedEnd(installation);
  if (end !== null) onNotice(`${describeEnd(end)} What it had started is taken over.`);
}

/** A platform that another command is starting, or one that stumbled, gets this long before it is started anew. */
const patienceMs = 10_000;

async function becomesHealthy(
  installation: Installation,
  running: PlatformRecord,
  signal: AbortSignal,
): Promise<boolean> {
  // Given up, nothing becomes of it by itself.
  if (running.services.some(({ state }) => state === 'failed')) return false;
  const lost = running.services.filter(({ state }) => state === 'lost');
  if (lost.some(({ name }) => lossOf(installation, name) === null)) return false;
  try {
    await waitUntilHealthy({ installation, platform: running, timeoutMs: patienceMs, signal });
    const timeoutMs = patienceMs;
    const started = running.services.filter((service) => !lost.includes(service));
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

function runsAlready({ pid, record }: RunningPlatform): SvcError {
  if (record?.foreground) {
    const where = `pid ${pid}, in the foreground of another terminal`;
    return new SvcError('conflict', `It runs already (${where}): ${record.urls.app}`, {
      hint: 'Press Ctrl-C there to stop it.',
    });
  }
  return new SvcError('conflict', `The platform runs already, in the background (pid ${pid}).`, {
    hint: 'Stop it first: svc down, then svc up --foreground',
  });
}
