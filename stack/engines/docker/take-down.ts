import { wordsOf } from '../../../services/contracts/docker.ts';
import { openPlatformLogs, type PlatformLogs } from '../../logs/platform-logs.ts';
import type { Plan } from '../../plan/plan.ts';
import { readContainers, writeContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import type { ServiceState } from '../../state/transition.ts';
import { inspectContainers } from './container-state.ts';
import type { Daemon } from './daemon.ts';
import { takeBackFiles } from './given-files.ts';
import { labels } from './names.ts';
import { removeFreeNetworks } from './network.ts';
import { removeContainer } from './remove-container.ts';
import { holdVolumes, listVolumes } from './volumes.ts';

export interface TakeDown {
  readonly daemon: Daemon;
  /** The id of the installation. */
  readonly id: string;
  readonly logs: PlatformLogs;
  readonly onState: (name: string, state: ServiceState) => void;
}

/** Stops the platform of a plan. */
export async function stopContainers(
  { installation, definition }: Plan,
  work: Pick<TakeDown, 'daemon' | 'onState'>,
): Promise<void> {
  const logs = openPlatformLogs(installation, definition);
  try {
    await takeDown(installation, { ...work, id: definition.id, logs });
  } finally {
    logs.close();
  }
}

/** Parts that need others stop first. The front stops after the parts whose calls end through it. */
const endOrder = [/^remote-mcp/, /^caddy/, /^(runtime|frontend)/, /^backend/, /^dgraph-alpha/, /./];

/** Stops and removes the containers, and networks without a foreign container. Volumes stay. Returns the number of containers. */
export async function takeDown(installation: Installation, work: TakeDown): Promise<number> {
  const { daemon, id, logs, onState } = work;
  const found = await inspectContainers(daemon.docker, id);
  const left = new Map([...found].map(([name, { Config }]) => [name, Config.Labels?.[labels.part] ?? name]));
  for (const parts of endOrder) {
    const next = [...left].filter(([, part]) => parts.test(part));
    await Promise.all(
      next.map(async ([name, part]) => {
        left.delete(name);
        await removeContainer(daemon.docker, { name, part }, logs);
        takeBackFiles(installation, part);
        onState(part, 'stopped');
      }),
    );
  }
  await removeFreeNetworks(daemon.docker, id);
  const [one] = found.values();
  await keepVolumes(work, one?.Image);
  const record = readContainers(installation);
  if (record !== null) writeContainers(installation, { ...record, isUp: false });
  return found.size;
}

/** The holding container needs any image that exists. A full disk must not block a stop. */
async function keepVolumes({ daemon: { docker }, id, logs }: TakeDown, image: string | undefined): Promise<void> {
  if (image === undefined) return;
  try {
    const volumes = [...(await listVolumes(docker, id))];
    if (volumes.length > 0) await holdVolumes({ docker, volumes, installationId: id, image });
  } catch (error) {
    logs.note('error', 'could not keep the volumes from docker volume prune', { reason: wordsOf(error) });
  }
}
