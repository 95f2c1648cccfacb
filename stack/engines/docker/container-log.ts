import type { Container } from 'dockerode';

/** A line that a container wrote. */
export interface StampedLine {
  /** As Docker notes it, to the nanosecond: comparable as text. */
  readonly stamp: string;
  readonly text: string;
}

export interface Which {
  /** How many of the last ones at most. */
  readonly tail?: number;
  /** Only those after this stamp. */
  readonly after?: string | null;
}

/** What Docker kept of what a container wrote, both streams, the oldest first. */
export async function readContainerLog(
  container: Container,
  { tail, after = null }: Which,
): Promise<readonly StampedLine[]> {
  const since = after === null ? {} : { since: epochOf(after) };
  const last = tail === undefined ? {} : { tail };
  const asked = { stdout: true, stderr: true, timestamps: true, follow: false, ...since, ...last } as const;
  const answer: unknown = await container.logs(asked);
  const lines = withoutFrames(Buffer.isBuffer(answer) ? answer : Buffer.from(String(answer)))
    .split('\n')
    .flatMap(stampedLine);
  return after === null ? lines : lines.filter(({ stamp }) => stamp > after);
}

function stampedLine(line: string): StampedLine[] {
  const end = line.indexOf(' ');
  return end === -1 ? [] : [{ stamp: line.slice(0, end), text: line.slice(end + 1).replace(/\r$/, '') }];
}

const frameHeaderBytes = 8;

/** Docker's interface, "Stream format" of ContainerAttach: each piece has a header that says which stream it is of, and how long. */
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

/** Seconds since 1970 with all nine digits behind the point, which no number holds. */
function epochOf(stamp: string): number {
  // What comes too early by the rounding is left out by its stamp.
  return Math.floor(Date.parse(stamp) / 1000);
}
