import type Docker from 'dockerode';
import type { ContainerCreateOptions } from 'dockerode';
import { SvcError } from '../../../services/contracts/errors.ts';
import { withoutFrames } from './container-log.ts';
import { tolerate } from './remove-container.ts';

/** A container that does one thing and is removed. */
export interface Task {
  readonly options: ContainerCreateOptions & { readonly name: string };
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const saidMax = 500;

/** Returns the output. Throws its end where the task fails or is late. */
export async function runTask(docker: Docker, { options, timeoutMs, signal }: Task): Promise<string> {
  // A killed command may have left it.
  await removeIfThere(docker, options.name);
  const container = await docker.createContainer(options);
  const late = AbortSignal.timeout(timeoutMs);
  const ended = AbortSignal.any([signal, late]);
  try {
    await container.start();
    const { StatusCode } = (await container.wait({ abortSignal: ended })) as { readonly StatusCode: number };
    const said = withoutFrames(await container.logs({ stdout: true, stderr: true, follow: false }));
    if (StatusCode === 0) return said;
    throw new SvcError('unavailable', said.trim().slice(-saidMax));
  } catch (error) {
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    if (late.aborted) throw new SvcError('timeout', `It did not end within ${timeoutMs / 1000} s.`, { cause: error });
    throw error;
  } finally {
    await removeIfThere(docker, options.name);
  }
}

/** The task cannot change its own files or gain privileges. */
export const confined = {
  ReadonlyRootfs: true,
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges'],
};

async function removeIfThere(docker: Docker, name: string): Promise<void> {
  await docker
    .getContainer(name)
    .remove({ force: true })
    .catch((error: unknown) => tolerate(error, [404]));
}
