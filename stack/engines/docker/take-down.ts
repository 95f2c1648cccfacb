import type Docker from 'dockerode';
import { wordsOf } from '../../../services/contracts/docker.ts';
import { openPlatformLogs } from '../../logs/platform-logs.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Definition } from '../../settings/definition.ts';
import { type ContainersRecord, readContainers, writeContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import type { ServiceState } from '../../state/transition.ts';
import { inspectContainers } from './container-state.ts';
import { type Daemon, reconnectToDaemon } from './daemon.ts';
import { takeBackFiles } from './given-files.ts';
import { idIn, labels } from './names.ts';
import { removeFreeNetworks } from './network.ts';
import { refuseOtherFolder } from './own-daemon.ts';
import { removeContainer } from './remove-container.ts';
import { holdVolumes, listVolumes } from './volumes.ts';

interface TakeDown {
  readonly daemon: Daemon;
  /** The id of the installation. */
  readonly id: string;
  /** The limits of stored logs. */
  readonly limits: { readonly logs: Pick<Definition['logs'], 'fileSizeMaxMb' | 'filesKept'> };
  readonly onState: (name: string, state: ServiceState) => void;
}

/** Stops the platform that the record describes, because svc.yaml may have changed since. `unchanged`: no container existed. */
export async function downContainers(
  installation: Installation,
  onState: TakeDown['onState'],
): Promise<'stopped' | 'unchanged'> {
  const record = readContainers(installation);
  if (record === null || record.services.length === 0) return 'unchanged';
  const daemon = await reconnectToDaemon(record.daemon.socket);
  const id = idIn(record);
  await refuseOtherFolder(daemon.docker, installation, id);
  const count = await takeDown(installation, { daemon, id, limits: limitsIn(record), onState });
  return count === 0 ? 'unchanged' : 'stopped';
}

function limitsIn({ settings }: ContainersRecord): TakeDown['limits'] {
  const [fileSizeMaxMb, filesKept] = [settings['logs.fileSizeMaxMb'], settings['logs.filesKept']];
  return { logs: { fileSizeMaxMb: Number(fileSizeMaxMb), filesKept: Number(filesKept) } };
}

/** Stops the platform of a plan. */
export async function stopContainers(
  { installation, definition }: Plan,
  work: Pick<TakeDown, 'daemon' | 'onState'>,
): Promise<void> {
  await takeDown(installation, { ...work, id: definition.id, limits: definition });
}

/** Parts that need others stop first. The front stops after the parts whose calls end through it. */
const endOrder = [/^remote-mcp/, /^caddy/, /^(runtime|frontend)/, /^backend/, /^dgraph-alpha/, /./];

/** Stops and removes the containers, and networks without a foreign container. Volumes stay. Returns the number of containers. */
async function takeDown(installation: Installation, { daemon, id, limits, onState }: TakeDown): Promise<number> {
  const { docker } = daemon;
  const found = await inspectContainers(docker, id);
  const left = new Map([...found].map(([name, { Config }]) => [name, Config.Labels?.[labels.part] ?? name]));
  const logs = openPlatformLogs(installation, limits);
  try {
    for (const parts of endOrder) {
      const next = [...left].filter(([, part]) => parts.test(part));
      await Promise.all(
        next.map(async ([name, part]) => {
          left.delete(name);
          await removeContainer(docker, { name, part }, logs);
          takeBackFiles(installation, part);
          onState(part, 'stopped');
        }),
      );
    }
    await removeFreeNetworks(docker, id);
    // The holding container needs any image that exists. A full disk must not block a stop.
    const [one] = found.values();
    if (one !== undefined) {
      await keepVolumes(docker, id, one.Image).catch((error: unknown) =>
        logs.note('error', 'could not keep the volumes from docker volume prune', { reason: wordsOf(error) }),
      );
    }
  } finally {
    logs.close();
  }
  const record = readContainers(installation);
  if (record !== null) writeContainers(installation, { ...record, isUp: false });
  return found.size;
}

async function keepVolumes(docker: Docker, id: string, image: string): Promise<void> {
  const volumes = [...(await listVolumes(docker, id))];
  if (volumes.length > 0) await holdVolumes({ docker, volumes, installationId: id, image });
}
