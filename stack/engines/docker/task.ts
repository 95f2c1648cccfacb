import type Docker from 'dockerode';
import { isDiskFull, makeRoom, wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Plan } from '../../plan/plan.ts';
import { withoutFrames } from './container-log.ts';
import { type OwnDaemon, tolerate } from './daemon.ts';
import { serviceImageOn } from './images.ts';
import { containerNameOf, labels } from './names.ts';

/** A container of the service image that works for one command. */
export interface Task {
  /** The end of its name. */
  readonly name: string;
  readonly command: readonly string[];
  /** As `uid:gid`. */
  readonly user: string;
  /** Volumes and folders, as Docker's API takes them. */
  readonly binds?: readonly string[];
  readonly capabilities?: readonly string[];
  /** The name of its network. Without one it has none. */
  readonly network?: string;
  /** How long it may take; default: an hour. */
  readonly minutesMax?: number;
  readonly hint?: string;
}

/** Where tasks run: a plan whose service image the daemon has. */
export interface TaskSite {
  readonly plan: Plan;
  readonly daemon: OwnDaemon;
  readonly signal: AbortSignal;
}

/** The container cannot change its own files or gain privileges. */
export const confined = {
  ReadonlyRootfs: true,
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges'],
};

/** A task holds one piece of a file at a time. */
const memoryMaxBytes = 512 * 1024 * 1024;
const processesMax = 64;

export function taskOptions(task: Task, { definition }: Plan) {
  const { name, command, user, binds = [], capabilities = [], network = 'none' } = task;
  return {
    name: containerNameOf(name, definition),
    Image: serviceImageOn(definition.images.base),
    User: user,
    Entrypoint: [...command],
    Labels: { [labels.installation]: definition.id, [labels.part]: name, [labels.alone]: 'true' },
    HostConfig: {
      ...confined,
      ...{ Binds: [...binds], CapAdd: [...capabilities], NetworkMode: network },
      ...{ Memory: memoryMaxBytes, PidsLimit: processesMax, Init: true },
    },
  };
}

/** Home folders of MCP servers may have some gigabytes. */
const minutesUsual = 60;
const saidMax = 500;

/** Runs a task and removes it. Returns its output. Throws its end where it fails or is late. */
export async function runTask({ plan, daemon: { docker }, signal }: TaskSite, task: Task): Promise<string> {
  const options = taskOptions(task, plan);
  const { minutesMax = minutesUsual } = task;
  const late = AbortSignal.timeout(minutesMax * 60_000);
  // A killed command may have left it.
  await removeNow(docker, options.name);
  try {
    const container = await docker.createContainer(options);
    await container.start();
    const ended = AbortSignal.any([signal, late]);
    const { StatusCode } = (await container.wait({ abortSignal: ended })) as { readonly StatusCode: number };
    const said = withoutFrames(await container.logs({ stdout: true, stderr: true, follow: false }));
    if (StatusCode === 0) return said;
    throw new Error(said.trim().slice(-saidMax));
  } catch (error) {
    if (signal.aborted) throw new SvcError('cancelled', 'Interrupted.', { cause: error });
    if (error instanceof SvcError) throw error;
    const why = late.aborted ? `it did not end within ${minutesMax} minutes` : wordsOf(error);
    const hint = isDiskFull(error) ? makeRoom : (task.hint ?? 'Check Docker: docker info');
    throw new SvcError(late.aborted ? 'timeout' : 'unavailable', `The container "${options.name}" failed: ${why}.`, {
      hint,
      cause: error,
    });
  } finally {
    await removeNow(docker, options.name);
  }
}

export async function removeNow(docker: Docker, name: string): Promise<void> {
  await docker.getContainer(name).remove({ force: true }).catch(tolerate(404));
}
