import { writeLease } from '../../ports/port-lease.ts';
import { recordFingerprint } from '../../secrets/secrets.ts';
import { type ContainersRecord, writeContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import { recordCreated } from '../../state/manifest.ts';
import type { EngineStart } from '../engine.ts';
import { applySteps } from './apply-steps.ts';
import type { DockerPlan } from './container-plan.ts';
import type { DockerState } from './docker-state.ts';
import { removeFormerImages } from './former-images.ts';
import { reconcile } from './reconcile.ts';
import { isPublished } from './site.ts';
import { stopContainers } from './take-down.ts';
import { ensureVolumes, handOverVolumes, releaseVolumes } from './volumes.ts';

/** Makes Docker have what the plan says, and records the result. */
export async function carryOut(state: DockerState, start: EngineStart): Promise<void> {
  const { daemon, plan } = state;
  const { definition, installation } = plan;
  const decision = reconcile(state);
  try {
    await makeVolumes(state, decision.record, start.signal);
    await applySteps(decision, state, start);
  } catch (error) {
    // A first start that failed leaves no container behind.
    if (decision.isFresh) await stopContainers(plan, { daemon, onState: () => undefined });
    throw error;
  }
  await releaseVolumes(daemon.docker, definition.id);
  await removeFormerImages(daemon.docker, installation, state.serviceImage);
  writeLease(installation, plan.ports, plan.wishes.filter(isPublished));
  recordFingerprint(installation);
}

async function makeVolumes(state: DockerState, record: ContainersRecord, signal: AbortSignal): Promise<void> {
  const { daemon, plan, wanted, serviceImage: image, user } = state;
  const { definition, installation } = plan;
  const own = { docker: daemon.docker, installationId: definition.id };
  // The manifest comes first, so that everything in Docker is known even if this command is killed.
  noteCreated(installation, wanted);
  await ensureVolumes({ ...own, volumes: wanted.volumes, folder: installation.dir });
  const volumes = foreignVolumes(state);
  if (volumes.length > 0) {
    writeContainers(installation, { ...record, volumes: record.volumes.filter((name) => !volumes.includes(name)) });
    await handOverVolumes({ ...own, volumes, user, image, signal });
  }
  writeContainers(installation, record);
}

/** Volumes that may not belong to the user of the containers. The others stay untouched, because running parts write to them. */
export function foreignVolumes({ before, wanted, volumes, user }: HandedOver): readonly string[] {
  const handedOver = before?.user === user ? before.volumes : [];
  return wanted.volumes.filter((name) => !handedOver.includes(name) || !volumes.has(name));
}

interface HandedOver extends Pick<DockerState, 'volumes' | 'user'> {
  readonly before: Pick<ContainersRecord, 'user' | 'volumes'> | null;
  readonly wanted: Pick<DockerPlan, 'volumes'>;
}

/** Records everything in Docker that an installation consists of. */
function noteCreated(installation: Installation, { networks, volumes, containers }: DockerPlan): void {
  recordCreated(installation, [
    ...networks.map(({ Name: path }) => ({ kind: 'network', path }) as const),
    ...volumes.map((path) => ({ kind: 'volume', path }) as const),
    ...[...new Set(containers.map(({ image }) => image))].map((path) => ({ kind: 'image', path }) as const),
  ]);
}
