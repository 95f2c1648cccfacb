import { text } from 'node:stream/consumers';
import type Docker from 'dockerode';
import type { ContainerInspectInfo } from 'dockerode';
import { z } from 'zod';
import { describeExit } from '../describe-exit.ts';

type Ended = Pick<ContainerInspectInfo, 'State'>;

/** How a container last ended, in words that follow its name. */
export async function lastEndOf(docker: Docker, found: Ended & Pick<ContainerInspectInfo, 'Id'>): Promise<string> {
  const { Running, Restarting, FinishedAt } = found.State;
  if (!Running || Restarting) return describeContainerEnd(found);
  // Docker keeps the time of the last end of a running container, but its exit code only in the events.
  const at = Math.floor(Date.parse(FinishedAt) / 1000);
  const happened = await docker.getEvents({
    since: at - 1,
    // Docker records the event up to a second later. It waits for events that are still in the future.
    until: at + 2,
    filters: { container: [found.Id], event: ['die', 'oom'] },
  });
  const events = (await text(happened))
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [event.parse(JSON.parse(line))]));
  const last = events.findLast(({ Action }) => Action === 'die');
  // A restarted daemon has lost older events.
  if (last === undefined) return 'ended, and Docker restarted it';
  const OOMKilled = events.some(({ Action }) => Action === 'oom');
  return describeContainerEnd({ State: { OOMKilled, Error: '', ExitCode: Number(last.Actor.Attributes.exitCode) } });
}

const event = z.object({
  Action: z.string(),
  Actor: z.object({ Attributes: z.object({ exitCode: z.string().optional() }) }),
});

/** How a stopped container ended. */
export function describeContainerEnd({
  State: { OOMKilled, ExitCode, Error: error },
}: {
  readonly State: Pick<ContainerInspectInfo['State'], 'OOMKilled' | 'ExitCode' | 'Error'>;
}): string {
  if (OOMKilled) return 'was killed: it used more memory than limits.memoryMaxMb in svc.yaml allows';
  if (error !== '') return `could not be started: ${error}`;
  return describeExit({ code: ExitCode, signal: signals[ExitCode] ?? null });
}

/** A program that a signal ended has the exit code 128 plus the number of the signal. */
const signals: Readonly<Record<number, NodeJS.Signals>> = { 137: 'SIGKILL', 143: 'SIGTERM' };
