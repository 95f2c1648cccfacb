import { connect, type Socket } from 'node:net';

/**
 * A load generator of raw keep-alive sockets: requests are prepared as bytes once, answers are only cut out of the stream. Node's own HTTP
 * client would cost more than the servers under test.
 */
export class Connection {
  readonly #socket: Socket;
  #pending: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (answer: Buffer) => void; reject: (error: Error) => void } | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('The connection was closed.')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port }, () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
      socket.once('error', reject);
    });
  }

  /** One request, one answer: head and body as they came. */
  ask(request: Buffer): Promise<Buffer> {
    if (this.#socket.destroyed) return Promise.reject(new Error('The connection was closed.'));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = null;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const end = endOfAnswer(this.#pending);
    if (end === -1) return;
    const answer = this.#pending.subarray(0, end);
    this.#pending = this.#pending.subarray(end);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(answer);
  }
}

const headEnd = Buffer.from('\r\n\r\n');
const chunkedEnd = Buffer.from('0\r\n\r\n');

/** Where the first answer ends, or -1: by content-length, by the last chunk, or at its head where it has no body. */
function endOfAnswer(bytes: Buffer): number {
  const head = bytes.indexOf(headEnd);
  if (head === -1) return -1;
  const start = head + headEnd.length;
  const headers = bytes.toString('latin1', 0, head);
  const length = /\r\ncontent-length: *(\d+)/i.exec(headers)?.[1];
  if (length !== undefined) return bytes.length >= start + Number(length) ? start + Number(length) : -1;
  if (/\r\ntransfer-encoding: *chunked/i.test(headers)) {
    const complete = bytes.length >= start + chunkedEnd.length && bytes.subarray(-chunkedEnd.length).equals(chunkedEnd);
    return complete ? bytes.length : -1;
  }
  return start;
}

/** Makes one call after the other, and checks each answer. */
export interface Caller {
  call(): Promise<void>;
  close(): void;
}

/** A number of calls: how long each took, and how long all took together. */
export interface Load {
  readonly latenciesMs: Float64Array;
  readonly seconds: number;
}

/** All callers together make `count` calls, each caller one after the other. */
export async function allAtOnce(callers: readonly Caller[], count: number): Promise<Load> {
  const latenciesMs = new Float64Array(count);
  const start = performance.now();
  await inTurn(callers, count, async (caller, index) => {
    const asked = performance.now();
    await caller.call();
    latenciesMs[index] = performance.now() - asked;
  });
  return { latenciesMs, seconds: (performance.now() - start) / 1000 };
}

/** Every caller takes the next call as soon as its last one was answered. */
async function inTurn(
  callers: readonly Caller[],
  count: number,
  call: (caller: Caller, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async (caller: Caller) => {
    while (next < count) await call(caller, next++);
  };
  await Promise.all(callers.map(work));
}

/**
 * Latencies at a steady rate, for a time: each call has its due moment, and waiting for a late one before it counts, so that a pause of the
 * server is not hidden by calls that were never made.
 */
export async function steadily(
  callers: readonly Caller[],
  perSecond: number,
  durationMs: number,
): Promise<Float64Array> {
  const count = Math.floor((perSecond * durationMs) / 1000);
  const latencies = new Float64Array(count);
  const start = performance.now();
  await inTurn(callers, count, async (caller, index) => {
    const due = start + (index * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    // A timer that fires late is the generator's own fault; a call that is late because the one before it was, is the server's.
    const begun = wait > 0 ? performance.now() : due;
    await caller.call();
    latencies[index] = performance.now() - begun;
  });
  return latencies;
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

export function perSecondOf({ latenciesMs, seconds }: Load): number {
  return latenciesMs.length / seconds;
}

export function quantile(values: Float64Array | readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export const median = (values: Float64Array | readonly number[]): number => quantile(values, 0.5);
