import { statusOf } from '../../../services/contracts/docker.ts';
import type { LogSource } from '../../logs/read-logs.ts';
import { readContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import { readContainerLog } from './container-log.ts';
import { reconnectToDaemon } from './daemon.ts';

/** The logs that Docker keeps of running containers, one source a part. */
export async function containerLogSources(installation: Installation, linesMax: number): Promise<readonly LogSource[]> {
  const record = readContainers(installation);
  if (!record?.isUp) return [];
  const { docker } = await reconnectToDaemon(record.daemon.socket);
  return record.services.map(({ name, container }) => {
    let after: string | null = null;
    const read = async (tail?: number) => {
      const which = tail === undefined ? { after } : { tail, after };
      const lines = await readContainerLog(docker.getContainer(container), which).catch((error: unknown) => {
        // The container was removed. Its replacement has the same name.
        if (statusOf(error) === 404 || statusOf(error) === 409) return [];
        throw error;
      });
      after = lines.at(-1)?.stamp ?? after;
      return lines.map(({ text }) => text);
    };
    return { service: name, before: () => read(linesMax), next: () => read() };
  });
}
