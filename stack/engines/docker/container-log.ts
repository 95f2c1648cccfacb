import type { Container } from 'dockerode';

/** A line that a container wrote. */
export interface StampedLine {
  /** The timestamp of Docker in nanoseconds. Timestamps compare as text. */
  readonly stamp: string;
  readonly text: string;
}

export interface LogRange {
  /** At most this many lines, the newest ones. */
  readonly tail?: number;
  /** Only lines after this timestamp. */
  readonly after?: string | null;
}

/** The lines that Docker kept of both streams, oldest first. */
export async function readContainerLog(
  container: Container,
  { tail, after = null }: LogRange,
): Promise<readonly StampedLine[]> {
  const since = after === null ? {} : { since: epochOf(after) };
  const last = tail === undefined ? {} : { tail };
  const bytes = await container.logs({
    stdout: true,
    stderr: true,
    timestamps: true,
    follow: false,
    ...since,
    ...last,
  });
  const lines = withoutFrames(bytes).split('\n').flatMap(stampedLine);
  return after === null ? lines : lines.filter(({ stamp }) => stamp > after);
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

/** Seconds since 1970. A number cannot hold all nine decimals. */
function epochOf(stamp: string): number {
  // The caller filters the lines that rounding adds.
  return Math.floor(Date.parse(stamp) / 1000);
}
