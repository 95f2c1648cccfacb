import { buffer, text } from 'node:stream/consumers';
import type Docker from 'dockerode';
import type { ContainerInspectInfo } from 'dockerode';
import { z } from 'zod';
import { describeExit } from '../describe-exit.ts';
import { withoutFrames } from './container-log.ts';
import { tolerate } from './daemon.ts';
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
export function inspectContainer(docker: Docker, name: string): Promise<ContainerInspectInfo | null> {
  return docker.getContainer(name).inspect().catch(tolerate(404));
}

const answerTimeoutMs = 5000;

export async function runInside(
  docker: Docker,
  name: string,
  command: readonly string[],
): Promise<{ readonly said: string; readonly exitCode: number | null }> {
  const exec = await docker.getContainer(name).exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({ hijack: false, stdin: false });
  const why = new Error(`no answer within ${answerTimeoutMs / 1000} s`);
  const late = setTimeout(() => stream.destroy(why), answerTimeoutMs);
  const said = await buffer(stream).finally(() => clearTimeout(late));
  return { said: withoutFrames(said).trim(), exitCode: (await exec.inspect()).ExitCode };
}

type ContainerEnd = Pick<ContainerInspectInfo['State'], 'OOMKilled' | 'ExitCode' | 'Error'>;

/** How a container last ended, in words that follow its name. */
export async function lastEndOf(docker: Docker, { Id, State }: ContainerInspectInfo): Promise<string> {
  const { Running, Restarting, FinishedAt } = State;
  if (!Running || Restarting) return describeContainerEnd(State);
  // Docker keeps the time of the last end of a running container, but its exit code only in the events.
  const at = Math.floor(Date.parse(FinishedAt) / 1000);
  const happened = await docker.getEvents({
    since: at - 1,
    // Docker records the event up to a second later. It waits for events that are still in the future.
    until: at + 2,
    filters: { container: [Id], event: ['die', 'oom'] },
  });
  const events = (await text(happened))
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [event.parse(JSON.parse(line))]));
  const last = events.findLast(({ Action }) => Action === 'die');
  // A restarted daemon has lost older events.
  if (last === undefined) return 'ended, and Docker restarted it';
  const OOMKilled = events.some(({ Action }) => Action === 'oom');
  return describeContainerEnd({ OOMKilled, Error: '', ExitCode: Number(last.Actor.Attributes.exitCode) });
}

const event = z.object({
  Action: z.string(),
  Actor: z.object({ Attributes: z.object({ exitCode: z.string().optional() }) }),
});

export function describeContainerEnd({ OOMKilled, ExitCode, Error: error }: ContainerEnd): string {
  if (OOMKilled) return 'was killed: it used more memory than limits.memoryMaxMb in svc.yaml allows';
  if (error !== '') return `could not be started: ${error}`;
  return describeExit({ code: ExitCode, signal: signals[ExitCode] ?? null });
}

/** A program that a signal ended has the exit code 128 plus the number of the signal. */
const signals: Readonly<Record<number, NodeJS.Signals>> = { 137: 'SIGKILL', 143: 'SIGTERM' };
