import type Docker from 'dockerode';
import type { ContainerInspectInfo } from 'dockerode';
import type { SvcError } from '../../../services/contracts/errors.ts';
import { withRepair } from '../../lifecycle/readiness.ts';
import { fullWith } from '../../state/free-space.ts';
import { readContainerLog } from './container-log.ts';
import { inspectContainer, runInside } from './container-state.ts';
import { dataDir } from './site.ts';

/**
 * What to say of the first volume of these containers whose disk is full; null where there is room, or nobody can be asked. Only a container
 * that has a volume sees how much is left: Docker lets nobody else look.
 */
export async function findFullVolume(docker: Docker, containers: readonly string[]): Promise<SvcError | null> {
  const looks = await Promise.all(containers.map((name) => lookInto(name, docker)));
  return looks.find((full) => full !== null) ?? null;
}

/** POSIX df, "STDOUT": the blocks of 1024 bytes that are in use and available, and what is mounted where. */
const blocksLeft = /\s(\d+)\s+\d+%\s+\S+$/m;

async function lookInto(container: string, docker: Docker): Promise<SvcError | null> {
  const found = await inspectContainer(docker, container);
  const volume = found?.Mounts.find(({ Destination }) => Destination === dataDir)?.Name;
  if (volume === undefined || !found?.State.Running) return null;
  // It may end meanwhile.
  const { said } = await runInside(docker, container, ['df', '-Pk', dataDir]).catch(() => ({ said: '' }));
  const [, blocks] = blocksLeft.exec(said) ?? [];
  if (blocks === undefined) return null;
  const repair = 'docker system df tells what takes it.';
  return fullWith(Number(blocks) * 1024, { place: `the volume "${volume}"`, repair });
}

/** A part that could not write goes on writing about it. */
const linesMax = 200;
const words = /.{0,160}no space left on device/i;

/** What a part wrote, since it was last started, of a disk that is full, and what mends it; null where it wrote nothing of that. */
export async function toldOfFullDisk(
  docker: Docker,
  { Id, State: { StartedAt } }: Pick<ContainerInspectInfo, 'Id' | 'State'>,
): Promise<string | null> {
  const lines = await readContainerLog(docker.getContainer(Id), { tail: linesMax, after: StartedAt }).catch(() => []);
  const told = lines.flatMap(({ text }) => words.exec(text)?.[0] ?? []).at(-1);
  return told === undefined ? null : withRepair(told);
}
