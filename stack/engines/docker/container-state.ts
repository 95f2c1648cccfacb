import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type Docker from 'dockerode';
import type { ContainerInspectInfo } from 'dockerode';
import { statusOf, wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { pollReadiness, type Readiness, type ReadinessWait } from '../../lifecycle/readiness.ts';
import { lastEndOf } from './container-end.ts';
import { withoutFrames } from './container-log.ts';
import { labels } from './names.ts';

/** All containers with the label of an installation, by name. */
export async function inspectContainers(
  docker: Docker,
  installationId: string,
  alsoLabels: readonly string[] = [],
): Promise<ReadonlyMap<string, ContainerInspectInfo>> {
  const filters = { label: [`${labels.installation}=${installationId}`, ...alsoLabels] };
  const listed = await docker.listContainers({ all: true, filters });
  const found = await Promise.all(listed.map(({ Id }) => inspectContainer(docker, Id)));
  return new Map(found.flatMap((one) => (one === null ? [] : [[one.Name.replace(/^\//, ''), one]])));
}

/** By name or id. Null: there is no such container. */
export async function inspectContainer(docker: Docker, name: string): Promise<ContainerInspectInfo | null> {
  try {
    return await docker.getContainer(name).inspect();
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** The deadline of one health check. */
const askTimeoutMs = 5000;

/** Runs the health check inside the container, because most parts are unreachable from this machine. */
export async function askReady(docker: Docker, name: string, check: readonly string[]): Promise<Readiness> {
  try {
    const { said, exitCode } = await runInside(docker, name, check);
    return exitCode === 0 ? { ready: true } : { ready: false, missing: missingIn(said) };
  } catch (error) {
    return { ready: false, missing: wordsOf(error) };
  }
}

/** Runs a command in a running container. */
export async function runInside(
  docker: Docker,
  name: string,
  command: readonly string[],
): Promise<{ readonly said: string; readonly exitCode: number | null }> {
  const exec = await docker.getContainer(name).exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true });
  const said = await textOf(await exec.start({ hijack: false, stdin: false }));
  return { said, exitCode: (await exec.inspect()).ExitCode };
}

async function textOf(stream: Duplex): Promise<string> {
  const late = setTimeout(() => stream.destroy(new Error(`no answer within ${askTimeoutMs / 1000} s`)), askTimeoutMs);
  try {
    return withoutFrames(await buffer(stream)).trim();
  } finally {
    clearTimeout(late);
  }
}

/** Our services name what is missing; other programs only say that they are not ready. */
function missingIn(said: string): string {
  const missing = /"missing":\["(.*?)"\]/.exec(said)?.[1];
  return missing?.replaceAll('","', ', ') ?? (said.split('\n').at(-1)?.slice(0, 200) || 'it is not ready');
}

/** A platform that another command just started, or a part that stumbled, gets this long before its container is replaced. */
export const patienceMs = 10_000;

/** Each question starts a process in the container. */
const pauses = { firstMs: 20, maxMs: 250 };

/** Whether a running container is ready, or will be in time. */
export async function becomesReady(
  docker: Docker,
  name: string,
  check: readonly string[],
  wait: ReadinessWait,
): Promise<boolean> {
  try {
    await pollReadiness(() => askReady(docker, name, check), wait, pauses);
    return true;
  } catch (error) {
    if (wait.signal.aborted) throw error;
    return false;
  }
}

/** Resolves once the new container is ready. Throws why it ended, or that it was not ready in time, in words that follow its name. */
export async function waitUntilContainerReady(
  docker: Docker,
  name: string,
  check: readonly string[],
  wait: ReadinessWait,
): Promise<void> {
  const readOnce = async () => {
    const found = await inspectContainer(docker, name);
    if (found === null) throw new SvcError('unavailable', 'it was removed');
    const { State, RestartCount } = found;
    if (!State.Running || State.Restarting || RestartCount > 0)
      throw new SvcError('unavailable', `it ${await lastEndOf(docker, found)}`);
    return askReady(docker, name, check);
  };
  await pollReadiness(readOnce, wait, pauses);
}
