import type Docker from 'dockerode';
import type { ContainerInspectInfo } from 'dockerode';
import type { SvcError } from '../../../services/contracts/errors.ts';
import { withRepair } from '../../lifecycle/readiness.ts';
import { fullWith } from '../../state/free-space.ts';
import { readContainerLog } from './container-log.ts';
import { runInside } from './container-state.ts';
import { dataDir } from './places-inside.ts';

/**
 * What to say of the first of these volumes whose disk is full; null where there is room, or nobody can be asked. A volume has the name of its
 * container, which alone sees how much is left: Docker lets nobody else look.
 */
export async function findFullVolume(docker: Docker, volumes: Iterable<string>): Promise<SvcError | null> {
  const looks = [...volumes].map(async (name) => {
    const left = await bytesLeftIn(docker, name);
    return left === null ? null : fullWith(left, { place: `the volume "${name}"`, repair });
  });
  return (await Promise.all(looks)).find((full) => full !== null) ?? null;
}

const repair = 'docker system df tells what takes it.';

/** POSIX df, "STDOUT": the blocks of 1024 bytes that are in use and available, and what is mounted where. */
const blocksLeft = /\s(\d+)\s+\d+%\s+\S+$/m;

async function bytesLeftIn(docker: Docker, container: string): Promise<number | null> {
  try {
    const { said } = await runInside(docker, container, ['df', '-Pk', dataDir]);
    const [, blocks] = blocksLeft.exec(said) ?? [];
    return blocks === undefined ? null : Number(blocks) * 1024;
  } catch {
    return null; // It does not run.
  }
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
