import { SvcError } from '../../../services/contracts/errors.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Daemon } from './daemon.ts';
import { containerNameOf, labels } from './names.ts';
import { dist } from './program.ts';
import { serviceImageOn } from './service-image.ts';
import { confined, runTask, type Task } from './task.ts';

export interface VolumeTask {
  /** The plan whose service image does the work. */
  readonly plan: Plan;
  readonly daemon: Daemon;
  readonly signal: AbortSignal;
}

export interface Copy {
  /** A volume, or a folder of this machine. */
  readonly from: string;
  readonly to: string;
  /** The owner of the copies, as `uid:gid`. */
  readonly user: string;
}

/** Home folders of MCP servers may have some gigabytes. */
const copyTimeoutMs = 60 * 60_000;
const measureTimeoutMs = 5 * 60_000;

/** Copies all files into an empty target, sparse files as such, and syncs them to the disk. Nothing may write to the source meanwhile. */
export async function copyFiles({ from, to, user }: Copy, inside: VolumeTask): Promise<void> {
  const Binds = [bind(from, '/from', 'ro'), bind(to, '/to')];
  await run(inside, 'copy', copyTimeoutMs, {
    User: '0:0',
    Entrypoint: ['sh', '-c', 'cp -a /from/. /to/ && chown -R "$1" /to && sync', 'sh', user],
    HostConfig: { Binds, CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'] },
  });
}

/** Copies the graph's file as of one moment, even while a backend writes to it. */
export async function copyGraphFile({ from, to, user }: Copy, inside: VolumeTask): Promise<void> {
  await run(inside, 'copy', copyTimeoutMs, {
    User: user,
    Entrypoint: ['node', `${dist}/stack/engines/docker/copy-graph/main.js`, '/from/graph.sqlite', '/to/graph.sqlite'],
    HostConfig: { Binds: [bind(from, '/from'), bind(to, '/to')] },
  });
}

export interface Measured {
  /** Bytes on the disk, by volume. */
  readonly bytes: Readonly<Record<string, number>>;
  /** On the disk where Docker keeps volumes. */
  readonly freeBytes: number;
}

/** du complains about a file that disappears while it counts, and leaves it out. */
const measured = 'df -Pk / | tail -n 1; for path in "$@"; do du -sk "$path" 2>/dev/null || :; done';

export async function measureVolumes(volumes: readonly string[], inside: VolumeTask): Promise<Measured> {
  const paths = volumes.map((name) => `/volumes/${name}`);
  const said = await run(inside, 'measure', measureTimeoutMs, {
    User: '0:0',
    Entrypoint: ['sh', '-c', measured, 'sh', ...paths],
    HostConfig: { Binds: volumes.map((name) => bind(name, `/volumes/${name}`, 'ro')), CapAdd: ['DAC_READ_SEARCH'] },
  });
  const [disk = '', ...lines] = said.trim().split('\n');
  const bytesIn = (line: string, column: number) => Number(line.trim().split(/\s+/)[column]) * 1024;
  return {
    bytes: Object.fromEntries(volumes.map((name, index) => [name, bytesIn(lines[index] ?? '0', 0)])),
    freeBytes: bytesIn(disk, 3),
  };
}

function bind(source: string, target: string, mode: 'ro' | 'rw' = 'rw'): string {
  // SELinux needs a label for a folder. `nocopy` keeps the image's files out of a volume.
  return `${source}:${target}:${mode},${source.startsWith('/') ? 'Z' : 'nocopy'}`;
}

/** Runs a task without a network. */
async function run(
  { plan, daemon, signal }: VolumeTask,
  what: 'copy' | 'measure',
  timeoutMs: number,
  { HostConfig, ...own }: Omit<Task['options'], 'name'>,
): Promise<string> {
  const { definition } = plan;
  const part = `alone-${what}`;
  const options = {
    ...own,
    name: containerNameOf(part, definition),
    Image: serviceImageOn(definition.images.base).name,
    Labels: { [labels.installation]: definition.id, [labels.part]: part, [labels.alone]: 'true' },
    HostConfig: { ...confined, NetworkMode: 'none', ...HostConfig },
  };
  try {
    return await runTask(daemon.docker, { options, timeoutMs, signal });
  } catch (error) {
    if (!(error instanceof SvcError) || error.code === 'cancelled') throw error;
    throw new SvcError(error.code, `Docker's volumes could not be read or filled: ${error.message}`, { cause: error });
  }
}
