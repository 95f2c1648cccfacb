import { recordCreated } from '../../state/manifest.ts';
import { labels } from './names.ts';
import { dist } from './site.ts';
import { runTask, type TaskSite } from './task.ts';

/** Root of a container without its privileges, but with these. */
const owningRoot = { user: '0:0', capabilities: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'] };

/** Makes missing volumes, and gives the foreign ones to the user of the containers, because Docker makes them for root. */
export async function makeVolumes(
  { volumes, foreign }: Readonly<Record<'volumes' | 'foreign', readonly string[]>>,
  site: TaskSite,
): Promise<void> {
  const { plan, daemon } = site;
  const { installation, definition } = plan;
  const Labels = { [labels.installation]: definition.id, [labels.folder]: installation.dir };
  // The manifest comes first, so that everything in Docker is known even if this command is killed.
  const created = volumes.map((path) => ({ kind: 'volume', path }) as const);
  recordCreated(installation, created);
  for (const Name of volumes) await daemon.docker.createVolume({ Name, Labels });
  if (foreign.length === 0) return;
  await runTask(site, {
    ...{ name: 'hand-over', ...owningRoot },
    command: ['chown', '-R', daemon.user, ...foreign.map((name) => `/volumes/${name}`)],
    binds: foreign.map((name) => bind(name, `/volumes/${name}`)),
  });
}

interface Copy {
  /** A volume, or a folder of this machine. */
  readonly from: string;
  readonly to: string;
  /** The owner of the copies, as `uid:gid`. */
  readonly user: string;
}

/** Copies all files into an empty target, sparse files as such, and syncs them to the disk. Nothing may write to the source meanwhile. */
export async function copyFiles({ from, to, user }: Copy, site: TaskSite): Promise<void> {
  await runTask(site, {
    ...{ name: 'copy', ...owningRoot },
    command: ['sh', '-c', 'cp -a /from/. /to/ && chown -R "$1" /to && sync', 'sh', user],
    binds: [bind(from, '/from', 'ro'), bind(to, '/to')],
  });
}

/** Copies the graph's file as of one moment, even while a backend writes to it. */
export async function copyGraphFile({ from, to, user }: Copy, site: TaskSite): Promise<void> {
  const program = `${dist}/stack/engines/docker/copy-graph/main.js`;
  await runTask(site, {
    ...{ name: 'copy', user },
    command: ['node', program, '/from/graph.sqlite', '/to/graph.sqlite'],
    binds: [bind(from, '/from'), bind(to, '/to')],
  });
}

/** du complains about a file that disappears while it counts, and leaves it out. */
const measured = 'df -Pk / | tail -n 1; for path in "$@"; do du -sk "$path" 2>/dev/null || :; done';

/** The bytes of each volume, and the free bytes on the disk where Docker keeps volumes. */
export async function measureVolumes(volumes: readonly string[], site: TaskSite) {
  const said = await runTask(site, {
    ...{ name: 'measure', user: '0:0', capabilities: ['DAC_READ_SEARCH'], minutesMax: 5 },
    command: ['sh', '-c', measured, 'sh', ...volumes.map((name) => `/volumes/${name}`)],
    binds: volumes.map((name) => bind(name, `/volumes/${name}`, 'ro')),
  });
  const [disk = '', ...lines] = said.trim().split('\n');
  const bytesIn = (line: string, column: number) => Number(line.trim().split(/\s+/)[column]) * 1024;
  const bytes = volumes.map((name, index) => [name, bytesIn(lines[index] ?? '0', 0)] as const);
  return { bytes: new Map(bytes), freeBytes: bytesIn(disk, 3) };
}

function bind(source: string, target: string, mode: 'ro' | 'rw' = 'rw'): string {
  // SELinux needs a label for a folder. `nocopy` keeps the image's files out of a volume.
  return `${source}:${target}:${mode},${source.startsWith('/') ? 'Z' : 'nocopy'}`;
}
