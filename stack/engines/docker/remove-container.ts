import type Docker from 'dockerode';
import { statusOf } from '../../../services/contracts/docker.ts';
import type { PlatformLogs } from '../../logs/platform-logs.ts';
import { readContainerLog } from './container-log.ts';

/** Docker removes the log together with the container. `svc logs` keeps the last lines. */
const linesKept = 10_000;

/** Stops a container gracefully and removes it. Its volume and the last lines of its log stay. */
export async function removeContainer(
  docker: Docker,
  { name, part }: { readonly name: string; readonly part: string },
  logs: PlatformLogs,
): Promise<void> {
  const container = docker.getContainer(name);
  // The plan of the container has the deadline. The container may have ended or be gone.
  await container.stop().catch((error: unknown) => tolerate(error, [304, 404]));
  const lines = await readContainerLog(container, { tail: linesKept }).catch(() => []);
  if (lines.length > 0) logs.of(part).write(`${lines.map(({ text }) => text).join('\n')}\n`);
  await container.remove({ force: true }).catch((error: unknown) => tolerate(error, [404]));
}

/** 304: it had already stopped. 404: it does not exist. 403: the network is in use. */
export function tolerate(error: unknown, answers: readonly number[]): void {
  if (!answers.includes(statusOf(error) ?? 0)) throw error;
}
