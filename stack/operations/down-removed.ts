import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { forgetInstallation, idPattern, knownInstallations } from '../state/known-installations.ts';
import { endMarked, findFolder, markedOf } from './removed-installation.ts';

export interface EndedInstallation {
  readonly outcome: 'stopped' | 'unchanged';
  readonly ended: readonly { readonly name: string; readonly pid?: number; readonly container?: string }[];
}

/**
 * Ends what still runs of an installation whose folder is gone: processes with its mark, and containers with its label. Volumes of Docker
 * stay. Refuses an id whose folder is there: `svc down` stops that one gracefully.
 */
export async function downRemoved(id: string, env: EnvRecord): Promise<EndedInstallation> {
  if (!idPattern.test(id)) {
    throw new SvcError('invalid_input', `"${id}" is not the id of an installation.`, { hint: listAll });
  }
  const listed = knownInstallations(env).find((one) => one.id === id) ?? null;
  const left = markedOf(id);
  const folder = findFolder(id, listed, left);
  if (folder !== null) {
    throw new SvcError('conflict', `The folder of the installation ${id} is there: "${folder}".`, {
      hint: `Stop it: svc down --dir ${folder}`,
    });
  }
  if (listed === null && left.length === 0) {
    throw new SvcError('not_found', `No process of an installation with the id "${id}" runs here.`, { hint: listAll });
  }
  const processes = (await endMarked(id)).map(({ part, process }) => ({ name: part, pid: process.pid }));
  const containers = (await endContainers(listed?.docker ?? null, id)).map((container) => ({
    name: container.replace(`svc-${id}-`, ''),
    container,
  }));
  forgetInstallation(id, env);
  const ended = [...processes, ...containers];
  return { outcome: ended.length > 0 ? 'stopped' : 'unchanged', ended };
}

const listAll = 'List all installations: svc status --all';

async function endContainers(socket: string | null, id: string): Promise<readonly string[]> {
  if (socket === null) return [];
  const { endLeftContainers } = await import('../engines/docker/removed-installation.ts');
  return await endLeftContainers(socket, id);
}
