import { text } from 'node:stream/consumers';
import type Docker from 'dockerode';
import type { ContainerInspectInfo } from 'dockerode';
import { z } from 'zod';
import { describeExit } from '../describe-exit.ts';

type Ended = Pick<ContainerInspectInfo, 'State'>;

/** How it last ended, in words that follow its name. */
export async function lastEndOf(docker: Docker, found: Ended & Pick<ContainerInspectInfo, 'Id'>): Promise<string> {
  const { Running, Restarting, FinishedAt } = found.State;
  if (!Running || Restarting) return describeContainerEnd(found);
  // Of one that runs again Docker tells when it ended, and how only among what happened then.
  const at = Math.floor(Date.parse(FinishedAt) / 1000);
  const happened = await docker.getEvents({
    since: at - 1,
    // It ended within that second and told of it a moment later. What is still to come Docker waits for.
    until: at + 2,
    filters: { container: [found.Id], event: ['die', 'oom'] },
  });
  const events = (await text(happened))
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [event.parse(JSON.parse(line))]));
  const last = events.findLast(({ Action }) => Action === 'die');
  // A daemon that was itself started since knows only what happened after that.
  if (last === undefined) return 'ended, and Docker started it again';
  const OOMKilled = events.some(({ Action }) => Action === 'oom');
  return describeContainerEnd({ State: { OOMKilled, Error: '', ExitCode: Number(last.Actor.Attributes.exitCode) } });
}

const event = z.object({
  Action: z.string(),
  Actor: z.object({ Attributes: z.object({ exitCode: z.string().optional() }) }),
});

/** How one ended that has not been started since. */
export function describeContainerEnd({
  State: { OOMKilled, ExitCode, Error: error },
}: {
  readonly State: Pick<ContainerInspectInfo['State'], 'OOMKilled' | 'ExitCode' | 'Error'>;
}): string {
  if (OOMKilled) return 'was killed: it took more memory than limits.memoryMaxMb in svc.yaml gives it';
  if (error !== '') return `could not be started: ${error}`;
  return describeExit({ code: ExitCode, signal: signals[ExitCode] ?? null });
}

/** The exit code of a container whose program was ended by a signal: 128 and its number. */
const signals: Readonly<Record<number, NodeJS.Signals>> = { 137: 'SIGKILL', 143: 'SIGTERM' };
