import type Docker from 'dockerode';
import type { ContainerInspectInfo } from 'dockerode';
import { wordsOf } from '../../../services/contracts/docker.ts';
import { openPlatformLogs, type PlatformLogs } from '../../logs/platform-logs.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Definition } from '../../settings/definition.ts';
import { type ContainersRecord, readContainers, writeContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import type { ServiceState } from '../../state/transition.ts';
import { readContainerLog } from './container-log.ts';
import { inspectContainers } from './container-state.ts';
import { type Daemon, reconnectToDaemon, tolerate } from './daemon.ts';
import { takeBackFiles } from './given-files.ts';
import { idIn, labels } from './names.ts';
import { removeFreeNetworks } from './network.ts';
import { refuseOtherFolder } from './own-daemon.ts';
import { holdVolumes } from './volumes.ts';

export interface Removal {
  readonly installation: Installation;
  readonly docker: Docker;
  /** The last lines of removed containers go there. */
  readonly logs: PlatformLogs;
  readonly onState: (name: string, state: ServiceState) => void;
}

interface TakeDown extends Omit<Removal, 'logs'> {
  /** The id of the installation. */
  readonly id: string;
  readonly logLimits: Pick<Definition['logs'], 'fileSizeMaxMb' | 'filesKept'>;
}

/** Stops the platform that the record describes, because svc.yaml may have changed since. `unchanged`: no container existed. */
export async function downContainers(
  installation: Installation,
  onState: TakeDown['onState'],
): Promise<'stopped' | 'unchanged'> {
  const record = readContainers(installation);
  if (record === null || record.services.length === 0) return 'unchanged';
  const { docker } = await reconnectToDaemon(record.daemon.socket);
  const id = idIn(record);
  await refuseOtherFolder(docker, installation, id);
  const count = await takeDown({ installation, docker, id, logLimits: logLimitsIn(record), onState });
  return count === 0 ? 'unchanged' : 'stopped';
}

function logLimitsIn({ settings }: ContainersRecord): TakeDown['logLimits'] {
  const [fileSizeMaxMb, filesKept] = [settings['logs.fileSizeMaxMb'], settings['logs.filesKept']];
  return { fileSizeMaxMb: Number(fileSizeMaxMb), filesKept: Number(filesKept) };
}

/** Stops the platform of a plan. */
export async function stopContainers(
  { installation, definition: { id, logs: logLimits } }: Plan,
  { docker }: Daemon,
  onState: TakeDown['onState'] = () => undefined,
): Promise<void> {
  await takeDown({ installation, docker, id, logLimits, onState });
}

/** Removes the containers that one command runs, also those that a killed command left. Their volumes stay. */
export async function endContainersAlone(
  { installation, definition: { id, logs: logLimits } }: Pick<Plan, 'installation' | 'definition'>,
  { docker }: Daemon,
): Promise<void> {
  const found = await inspectContainers(docker, id, [labels.alone]);
  await removeContainers(found, { installation, docker, id, logLimits, onState: () => undefined });
}

/** Stops and removes the platform. Returns the number of its containers. */
async function takeDown(options: TakeDown): Promise<number> {
  const { installation, docker, id, logLimits } = options;
  const found = await inspectContainers(docker, id);
  await removeContainers(found, options);
  const [one] = found.values();
  // The holding container needs any image that exists. A full disk must not block a stop.
  if (one !== undefined) {
    await holdVolumes(docker, id, one.Image).catch((error: unknown) => {
      const logs = openPlatformLogs(installation, { logs: logLimits });
      logs.note('error', 'could not keep the volumes from docker volume prune', { reason: wordsOf(error) });
      logs.close();
    });
  }
  const record = readContainers(installation);
  if (record !== null) writeContainers(installation, { ...record, isUp: false });
  return found.size;
}

/** Parts that need others stop first. The front stops after the parts whose calls end through it. */
const endOrder = [/^remote-mcp/, /^caddy/, /^(runtime|frontend)/, /^backend/, /^dgraph-alpha/, /./];

/** Removes containers in order, and networks without a foreign container. */
async function removeContainers(
  found: ReadonlyMap<string, ContainerInspectInfo>,
  { id, logLimits, ...options }: TakeDown,
): Promise<void> {
  const left = new Map([...found].map(([name, { Config }]) => [name, Config.Labels?.[labels.part] ?? name]));
  const logs = openPlatformLogs(options.installation, { logs: logLimits });
  try {
    for (const parts of endOrder) {
      const next = [...left].filter(([, part]) => parts.test(part));
      for (const [name] of next) left.delete(name);
      await Promise.all(next.map(([name, part]) => removeContainer({ name, part }, { ...options, logs })));
    }
  } finally {
    logs.close();
  }
  await removeFreeNetworks(options.docker, id);
}

/** Docker removes the log together with the container. `svc logs` keeps the last lines. */
const linesKept = 10_000;

/** Stops a container gracefully and removes it with the files of its part. Its volume and the last lines of its log stay. */
export async function removeContainer(
  { name, part }: { readonly name: string; readonly part: string },
  { installation, docker, logs, onState }: Removal,
): Promise<void> {
  const container = docker.getContainer(name);
  // The plan of the container has the deadline. The container may have ended or be gone.
  await container.stop().catch((error: unknown) => tolerate(error, [304, 404]));
  const lines = await readContainerLog(container, { tail: linesKept }).catch(() => []);
  if (lines.length > 0) logs.of(part).write(`${lines.map(({ text }) => text).join('\n')}\n`);
  await container.remove({ force: true }).catch((error: unknown) => tolerate(error, [404]));
  takeBackFiles(installation, part);
  onState(part, 'stopped');
}
