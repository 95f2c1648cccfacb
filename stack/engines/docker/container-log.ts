import type { Container } from 'dockerode';
import type { LogSource } from '../../logs/read-logs.ts';
import { readContainers } from '../../state/containers-record.ts';
import type { Installation } from '../../state/installation.ts';
import { reconnectToDaemon, tolerate } from './daemon.ts';

/** The logs that Docker keeps of running containers, one source a part. */
export async function containerLogSources(installation: Installation, linesMax: number): Promise<readonly LogSource[]> {
  const record = readContainers(installation);
  if (!record?.isUp) return [];
  const { docker } = await reconnectToDaemon(record.daemon.socket);
  return record.services.map(({ name, container }) => {
    let after = '';
    const read = async (tail = {}) => {
      const range = { after, ...tail };
      // 404, 409: the container was removed. Its replacement has the same name.
      const lines = (await readContainerLog(docker.getContainer(container), range).catch(tolerate(404, 409))) ?? [];
      after = lines.at(-1)?.stamp ?? after;
      return lines.map(({ text }) => text);
    };
    return { service: name, before: () => read({ tail: linesMax }), next: () => read() };
  });
}

interface StampedLine {
  /** The timestamp of Docker in nanoseconds. Timestamps compare as text. */
  readonly stamp: string;
  readonly text: string;
}

/** The lines that Docker kept of both streams, oldest first: the newest lines (`tail`), or those after a timestamp. */
export async function readContainerLog(
  container: Container,
  { tail, after = '' }: { readonly tail?: number; readonly after?: string },
): Promise<readonly StampedLine[]> {
  const range = {
    ...(tail === undefined ? {} : { tail }),
    // Seconds since 1970, because a number cannot hold all nine decimals of a timestamp.
    ...(after === '' ? {} : { since: Math.floor(Date.parse(after) / 1000) }),
  };
  const bytes = await container.logs({ stdout: true, stderr: true, timestamps: true, follow: false, ...range });
  const lines = withoutFrames(bytes).split('\n').flatMap(stampedLine);
  return lines.filter(({ stamp }) => stamp > after);
}

function stampedLine(line: string): StampedLine[] {
  const end = line.indexOf(' ');
  return end === -1 ? [] : [{ stamp: line.slice(0, end), text: line.slice(end + 1).replace(/\r$/, '') }];
}

const frameHeaderBytes = 8;

/** Docker Engine API, ContainerAttach, "Stream format": each frame has a header with its stream and its length. */
export function withoutFrames(bytes: Buffer): string {
  const pieces: Buffer[] = [];
  for (let at = 0; at + frameHeaderBytes <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + 4);
    at += frameHeaderBytes;
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return Buffer.concat(pieces).toString('utf8');
}
