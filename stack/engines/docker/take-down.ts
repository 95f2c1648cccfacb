import type { ContainerInspectInfo } from 'dockerode';
import { wordsOf } from '../../../services/contracts/docker.ts';
import type { LogLimits } from '../../logs/log-file.ts';
import { openPlatformLogs } from '../../logs/platform-logs.ts';
import type { Definition } from '../../settings/definition.ts';
import { readContainers, writeContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import { endInOrder } from '../../state/left-processes.ts';
import type { EngineStart } from '../engine.ts';
import { readContainerLog } from './container-log.ts';
import { inspectContainers } from './container-state.ts';
import { type Daemon, reconnectToDaemon, tolerate } from './daemon.ts';
import { takeBackFiles } from './given-files.ts';
import { idIn, labels } from './names.ts';
import { removeFreeNetworks } from './network.ts';
import { refuseOtherFolder } from './own-daemon.ts';
import { holdVolumes } from './volumes.ts';

/** A platform that is stopped. svc.yaml may describe another one by now. */
interface StoppedPlatform {
  readonly plan: {
    readonly installation: Installation;
    readonly definition: Pick<Definition, 'id'> & { readonly logs: LogLimits };
  };
  readonly daemon: Pick<Daemon, 'docker'>;
}

interface Removal extends StoppedPlatform {
  readonly onState: EngineStart['onState'];
}

/** Stops the platform that the record describes. `unchanged`: no container existed. */
export async function downContainers(
  installation: Installation,
  onState: Removal['onState'],
): Promise<'stopped' | 'unchanged'> {
  const record = readContainers(installation);
  if (record === null || record.services.length === 0) return 'unchanged';
  const daemon = await reconnectToDaemon(record.daemon.socket);
  const id = idIn(record);
  await refuseOtherFolder(daemon.docker, installation, id);
  const [fileSizeMaxMb, filesKept] = [record.settings['logs.fileSizeMaxMb'], record.settings['logs.filesKept']];
  const logs = { fileSizeMaxMb: Number(fileSizeMaxMb), filesKept: Number(filesKept) };
  const count = await stopContainers({ plan: { installation, definition: { id, logs } }, daemon, onState });
  return count === 0 ? 'unchanged' : 'stopped';
}

/** Stops and removes the platform. Returns the number of its containers. */
export async function stopContainers(removal: Removal): Promise<number> {
  const { installation, definition } = removal.plan;
  const { docker } = removal.daemon;
  const found = await inspectContainers(docker, definition.id);
  await removeContainers([...found.values()], removal);
  const [one] = found.values();
  // The holding container needs any image that exists. A full disk must not block a stop.
  if (one !== undefined) {
    await holdVolumes(docker, definition.id, one.Image).catch((error: unknown) => {
      const logs = openPlatformLogs(installation, definition);
      logs.note('error', 'could not keep the volumes from docker volume prune', { reason: wordsOf(error) });
      logs.close();
    });
  }
  const record = readContainers(installation);
  if (record !== null) writeContainers(installation, { ...record, isUp: false });
  return found.size;
}

/** Removes the containers that one command runs, also those that a killed command left. Their volumes stay. */
export async function endContainersAlone(platform: StoppedPlatform): Promise<void> {
  const found = await inspectContainers(platform.daemon.docker, platform.plan.definition.id, [labels.alone]);
  await removeContainers([...found.values()], { ...platform, onState: () => undefined });
}

/** Removes containers in order, and networks without a foreign container. */
async function removeContainers(found: readonly ContainerInspectInfo[], removal: Removal): Promise<void> {
  await endInOrder(found, partOf, (one) => removeContainer(one, removal));
  await removeFreeNetworks(removal.daemon.docker, removal.plan.definition.id);
}

/** Docker removes the log together with the container. `svc logs` keeps the last lines. */
const linesKept = 10_000;

/** Stops a container gracefully and removes it with the files of its part. Its volume and the last lines of its log stay. */
export async function removeContainer(found: ContainerInspectInfo, { plan, daemon, onState }: Removal): Promise<void> {
  const { installation, definition } = plan;
  const part = partOf(found);
  const container = daemon.docker.getContainer(found.Id);
  // The plan of the container has the deadline. The container may have ended or be gone.
  await container.stop().catch(tolerate(304, 404));
  // A task is no part, and has no hash.
  const isPart = found.Config.Labels?.[labels.hash] !== undefined;
  const lines = isPart ? await readContainerLog(container, { tail: linesKept }).catch(() => []) : [];
  if (lines.length > 0) {
    const logs = openPlatformLogs(installation, definition);
    logs.of(part).write(`${lines.map(({ text }) => text).join('\n')}\n`);
    logs.close();
  }
  await container.remove({ force: true }).catch(tolerate(404));
  takeBackFiles(installation, part);
  onState(part, 'stopped');
}

function partOf({ Name, Config }: ContainerInspectInfo): string {
  return Config.Labels?.[labels.part] ?? Name.slice(1);
}
