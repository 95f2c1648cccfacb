import type Docker from 'dockerode';
import { statusOf } from '../../../services/contracts/docker.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import { readContainerLog } from './container-log.ts';

/** What Docker kept of a container's log goes with it: its last lines are kept beside those of earlier ones, for `svc logs`. */
const linesKept = 10_000;

/** Lets it finish what is under way, and leaves nothing of it but its last lines and its volume. */
export async function removeContainer(
  docker: Docker,
  { name, part }: { readonly name: string; readonly part: string },
  logs: PlatformLogs,
): Promise<void> {
  const container = docker.getContainer(name);
  // Its own time to stop is in its plan. It may have ended, or be gone, meanwhile.
  await container.stop().catch((error: unknown) => tolerate(error, [304, 404]));
  const lines = await readContainerLog(container, { tail: linesKept }).catch(() => []);
  if (lines.length > 0) logs.of(part).write(`${lines.map(({ text }) => text).join('\n')}\n`);
  await container.remove({ force: true }).catch((error: unknown) => tolerate(error, [404]));
}

/** 304: it had ended. 404: it was gone. 403: something is in it. */
export function tolerate(error: unknown, answers: readonly number[]): void {
  if (!answers.includes(statusOf(error) ?? 0)) throw error;
}
