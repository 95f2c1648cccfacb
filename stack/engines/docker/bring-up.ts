import { aborted } from '../../aborted.ts';
import { awaitCertificate } from '../../front/served-certificate.ts';
import type { BringUp } from '../../lifecycle/bring-up.ts';
import type { UpResult } from '../../lifecycle/progress.ts';
import type { ServiceState } from '../../lifecycle/transition.ts';
import { openPlatformLogs } from '../../logs/platform-logs.ts';
import { refuseFullDisk } from '../../state/free-space.ts';
import { carryOut } from './carry-out.ts';
import type { ContainerPlan } from './container-plan.ts';
import { becomesReady } from './container-state.ts';
import type { Daemon } from './daemon.ts';
import { decide } from './decide.ts';
import { findFullVolume } from './full-volume.ts';
import { type Look, lookAround } from './look.ts';
import { statusOfContainers } from './status.ts';
import { takeDown } from './take-down.ts';

/** Makes Docker have what svc.yaml says: what differs or was changed by hand is made anew, the rest goes on. */
export async function bringUpContainers(options: BringUp): Promise<UpResult> {
  const { installation, foreground, onProgress, signal, release } = options;
  const onNotice = (message: string) => onProgress({ kind: 'notice', message });
  const onState = (name: string, state: ServiceState) => onProgress({ kind: 'service', name, state });
  const look = await lookAround(options);
  const decision = decide(installation, look);
  const { byHand, isFresh, isSame } = decision;
  if (decision.changes !== null) onProgress({ kind: 'plan', changes: decision.changes });
  for (const line of byHand) onNotice(line);
  const changes = decision.changes ?? [];
  const ready = async () => {
    await awaitCertificate(look.plan, { signal, onNotice });
    const status = await statusOfContainers(installation, signal);
    onProgress({ kind: 'ready', status });
    return status;
  };
  if (isSame && !foreground && (await areReady(look.wanted.containers, look.daemon))) {
    return { outcome: 'unchanged', changes, status: await ready() };
  }
  refuseFullDisk(installation);
  const full = await findFullVolume(look.daemon.docker, look.wanted.volumes);
  if (full !== null) throw full;
  // What is free now is tried once: whoever takes it meanwhile keeps it.
  for (const port of look.held.size === 0 ? Object.values(look.plan.ports) : []) options.avoid.add(port);
  await carryOut({ installation, look, decision, signal, onState, onNotice });
  if (!foreground) return { outcome: isFresh ? 'started' : 'restarted', changes, status: await ready() };
  release();
  await ready();
  await aborted(signal);
  await takeDownInForeground(options, look, onState);
  return { outcome: 'stopped', changes, status: await statusOfContainers(installation) };
}

async function areReady(containers: readonly ContainerPlan[], { docker }: Daemon): Promise<boolean> {
  const ready = await Promise.all(containers.map(({ options, check }) => becomesReady(docker, options.name, check)));
  return !ready.includes(false);
}

async function takeDownInForeground(
  { installation }: BringUp,
  { daemon, plan: { definition } }: Look,
  onState: (name: string, state: ServiceState) => void,
): Promise<void> {
  const logs = openPlatformLogs(installation, definition);
  try {
    await takeDown(installation, { daemon, definition, logs, onState });
  } finally {
    logs.close();
  }
}
