import { areOtherNodes, changeNodes } from '../../content/change-nodes.ts';
import { fillNodes } from '../../graph/fill-nodes.ts';
import type { BringUp } from '../../lifecycle/bring-up.ts';
import type { UpResult } from '../../lifecycle/progress.ts';
import { awaitCertificate } from '../../lifecycle/served-certificate.ts';
import { openPlatformLogs } from '../../logs/platform-logs.ts';
import { aborted } from '../../machine/aborted.ts';
import { settingsOf } from '../../plan/differences.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import type { ServiceState } from '../../state/transition.ts';
import { busInVolumes } from './bus-in-volumes.ts';
import { carryOut } from './carry-out.ts';
import { becomesReady, patienceMs } from './container-state.ts';
import { decide } from './decide.ts';
import { findFullVolume } from './full-volume.ts';
import { forgetVolumes, type Look, lookAround } from './look.ts';
import { nodesInVolumes } from './nodes-in-volumes.ts';
import { statusOfContainers } from './status.ts';
import { takeDown } from './take-down.ts';

/** Makes Docker have what svc.yaml says: what differs or was changed by hand is made anew, the rest goes on. */
export async function bringUpContainers(options: BringUp): Promise<UpResult> {
  const { installation, foreground, onProgress, signal, release } = options;
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const onState = (name: string, state: ServiceState) => onProgress({ kind: 'service', name, state });
  const seen = await withNodesFilled(options, await lookAround(options), onState);
  const decision = decide(installation, seen);
  const { byHand, isFresh, isSame } = decision;
  if (decision.changes !== null) onProgress({ kind: 'plan', changes: decision.changes });
  for (const line of byHand) onNotice(line);
  const changes = decision.changes ?? [];
  const ready = async () => {
    await awaitCertificate(seen.plan, { signal, onNotice });
    const status = await statusOfContainers(installation, signal);
    onProgress({ kind: 'ready', status });
    return status;
  };
  if (isSame && !foreground && (await areReady(seen, signal))) {
    return { outcome: 'unchanged', changes, status: await ready() };
  }
  refuseFullDisk(installation);
  const full = await findFullVolume(seen.daemon.docker, [...seen.present.keys()]);
  if (full !== null) throw full;
  const look = await withNodesChanged(options, await withoutOtherGraph(options, seen, onState), onState);
  // What is free now is tried once: whoever takes it meanwhile keeps it.
  for (const port of look.held.size === 0 ? Object.values(look.plan.ports) : []) options.avoid.add(port);
  const now = look === seen ? decision : decide(installation, look);
  await carryOut({ installation, look, decision: now, signal, onState, onNotice });
  if (!foreground) return { outcome: isFresh ? 'started' : 'restarted', changes, status: await ready() };
  release();
  await ready();
  await aborted(signal);
  await takeAllDown(options, look, onState);
  return { outcome: 'stopped', changes, status: await statusOfContainers(installation) };
}

/** What is there once nothing runs that knows itself from another graph: it would be nobody in this one. */
async function withoutOtherGraph(
  options: BringUp,
  look: Look,
  onState: (name: string, state: ServiceState) => void,
): Promise<Look> {
  const { before, plan } = look;
  if (before === null || !before.isUp || before.settings.graph === settingsOf(plan).graph) return look;
  await takeAllDown(options, look, onState);
  return lookAgain(options);
}

/** Gives nodes of Dgraph that lost their volumes a copy, with the platform stopped, and looks at Docker again. */
async function withNodesFilled(
  options: BringUp,
  look: Look,
  onState: (name: string, state: ServiceState) => void,
): Promise<Look> {
  const { onProgress, signal } = options;
  const { copied: nodes, forgotten, plan, daemon } = look;
  if (nodes.length === 0) return look;
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const places = await nodesInVolumes({ look, stop: () => takeAllDown(options, look, onState), signal });
  await fillNodes({ definition: plan.definition, nodes, places, onNotice });
  await forgetVolumes(forgotten, { installation: options.installation, daemon, plan });
  return lookAgain(options);
}

/** What is there once the bus has as many nodes as it shall have: where they are others, nothing runs any more. */
async function withNodesChanged(
  options: BringUp,
  look: Look,
  onState: (name: string, state: ServiceState) => void,
): Promise<Look> {
  const { onProgress, signal } = options;
  const places = busInVolumes(look);
  if (!areOtherNodes(look.plan, places)) return look;
  await takeAllDown(options, look, onState);
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  await changeNodes({ plan: look.plan, places, signal, onNotice });
  return lookAgain(options);
}

/** Reports and asks nothing: the caller has already done both. */
function lookAgain(options: BringUp): Promise<Look> {
  return lookAround({ ...options, startEmpty: null, onProgress: () => undefined });
}

async function areReady({ wanted: { containers }, daemon: { docker } }: Look, signal: AbortSignal): Promise<boolean> {
  const waiting = { timeoutMs: patienceMs, signal };
  const ready = await Promise.all(
    containers.map(({ options, check }) => becomesReady(docker, options.name, check, waiting)),
  );
  return !ready.includes(false);
}

async function takeAllDown(
  { installation }: BringUp,
  { daemon, plan: { definition } }: Look,
  onState: (name: string, state: ServiceState) => void,
): Promise<void> {
  const logs = openPlatformLogs(installation, definition);
  try {
    await takeDown(installation, { daemon, id: definition.id, logs, onState });
  } finally {
    logs.close();
  }
}
