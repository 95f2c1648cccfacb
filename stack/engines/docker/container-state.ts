import { setTimeout as pause } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { ContainerInspectInfo } from 'dockerode';
import { statusOf, wordsOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import type { Readiness } from '../../lifecycle/readiness.ts';
import { lastEndOf } from './container-end.ts';
import { withoutFrames } from './container-log.ts';
import { labels } from './names.ts';

/** Everything that Docker has under the label of an installation, by name of the container. */
export async function inspectContainers(
  docker: Docker,
  installationId: string,
  alsoLabels: readonly string[] = [],
): Promise<ReadonlyMap<string, ContainerInspectInfo>> {
  const filters = { label: [`${labels.installation}=${installationId}`, ...alsoLabels] };
  const listed = await docker.listContainers({ all: true, filters });
  const found = await Promise.all(listed.map(({ Id }) => inspectContainer(docker, Id)));
  return new Map(found.flatMap((one) => (one === null ? [] : [[nameOf(one), one]])));
}

/** By name or id; null where there is none. */
export async function inspectContainer(docker: Docker, name: string): Promise<ContainerInspectInfo | null> {
  try {
    return await docker.getContainer(name).inspect();
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

export function nameOf({ Name }: Pick<ContainerInspectInfo, 'Name'>): string {
  return Name.replace(/^\//, '');
}

/** The command of its health check, and how long it may take. */
const askTimeoutMs = 5000;

/** Asks, inside the container, whether it is ready: most of what runs there is reached from nowhere else. */
export async function askReady(docker: Docker, name: string, check: readonly string[]): Promise<Readiness> {
  try {
    const { said, exitCode } = await runInside(docker, name, check);
    return exitCode === 0 ? { ready: true } : { ready: false, missing: missingIn(said) };
  } catch (error) {
    return { ready: false, missing: wordsOf(error) };
  }
}

/** Runs a command beside what a container is for. */
export async function runInside(
  docker: Docker,
  name: string,
  command: readonly string[],
): Promise<{ readonly said: string; readonly exitCode: number | null }> {
  const exec = await docker.getContainer(name).exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true });
  const said = await textOf(await exec.start({ hijack: false, stdin: false }));
  return { said, exitCode: (await exec.inspect()).ExitCode };
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const late = AbortSignal.timeout(askTimeoutMs);
  const chunks: Buffer[] = [];
  const read = (async () => {
    for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  })();
  const tooLate = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(new Error(`no answer within ${askTimeoutMs / 1000} s`)), {
      once: true,
    });
  });
  await Promise.race([read, tooLate]);
  return withoutFrames(Buffer.concat(chunks)).trim();
}

/** A service says what it misses; others only that they are not ready. */
function missingIn(said: string): string {
  const missing = /"missing":\["(.*?)"\]/.exec(said)?.[1];
  return missing?.replaceAll('","', ', ') ?? (said.split('\n').at(-1)?.slice(0, 200) || 'it is not ready');
}

/** A platform that another command has just started, or a part that stumbled, gets this long before it is made anew. */
export const patienceMs = 10_000;

export interface Waiting {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** How often Docker had started it again before. */
  readonly restarts?: number;
}

/** Whether what runs is ready, or will be in a moment. */
export async function becomesReady(
  docker: Docker,
  name: string,
  check: readonly string[],
  { timeoutMs, signal }: Waiting,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  do {
    if ((await askReady(docker, name, check)).ready) return true;
    await pause(pauseMaxMs, undefined, { signal });
  } while (performance.now() < deadline);
  return false;
}

const pauseMinMs = 20;
const pauseMaxMs = 250;

/** Resolves once it is ready. Throws why it ended, or that it was not ready in time; what it says follows its name. */
export async function waitUntilContainerReady(
  docker: Docker,
  name: string,
  check: readonly string[],
  waiting: Waiting,
): Promise<void> {
  const { timeoutMs, signal, restarts = 0 } = waiting;
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    const found = await inspectContainer(docker, name);
    if (found === null) throw new SvcError('unavailable', 'it was removed');
    const { State, RestartCount } = found;
    if (!State.Running || State.Restarting || RestartCount > restarts)
      throw new SvcError('unavailable', `it ${await lastEndOf(docker, found)}`);
    const readiness = await askReady(docker, name, check);
    if (readiness.ready) return;
    if (performance.now() >= deadline) {
      const missing = readiness.missing.replace(/\.$/, '');
      throw new SvcError('timeout', `it was not ready within ${timeoutMs / 1000} s: ${missing}`);
    }
    await pause(pauseMs, undefined, { signal });
  }
}
