/** What a line reader hands on. Lines are without their newline and are the receiver's own. */
export interface LineSink {
  line(line: Buffer): void;
  /** A line longer than allowed: it was let go while it streamed by; its two ends tell what it was. */
  overlong(line: OverlongLine): void;
}

export interface OverlongLine {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly bytes: number;
}

const newline = 10;
/** Enough of either end to find the id of a JSON-RPC response. */
const endBytes = 256;
const firstCapacityBytes = 64 * 1024;

/**
 * Cuts a byte stream into lines. A line inside one chunk is passed on without a copy; a longer one grows in a buffer that
 * doubles, so that neither a huge line nor one that comes byte by byte costs more than twice its length.
 */
export class LineReader {
  readonly #lineMaxBytes: number;
  readonly #sink: LineSink;
  #held: Buffer | null = null;
  #heldBytes = 0;
  #overlong: { head: Buffer; tail: Buffer; bytes: number } | null = null;

  constructor(lineMaxBytes: number, sink: LineSink) {
    this.#lineMaxBytes = lineMaxBytes;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end < 0) {
        if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start));
        return;
      }
      this.#finish(chunk.subarray(start, end));
      start = end + 1;
      if (start === chunk.length) return;
    }
  }

  /** The stream has ended: what is left counts as a line. */
  end(): void {
    if (this.#heldBytes > 0 || this.#overlong !== null) this.#finish(Buffer.alloc(0));
  }

  #finish(rest: Buffer): void {
    if (this.#overlong === null && this.#held === null && rest.length <= this.#lineMaxBytes) {
      this.#sink.line(rest);
      return;
    }
    if (rest.length > 0) this.#keep(rest);
    const { held, overlong } = { held: this.#held, overlong: this.#overlong };
    const bytes = this.#heldBytes;
    this.#held = null;
    this.#heldBytes = 0;
    this.#overlong = null;
    if (overlong !== null) this.#sink.overlong(overlong);
    else if (held !== null) this.#sink.line(held.subarray(0, bytes));
  }

  #keep(part: Buffer): void {
    if (this.#overlong !== null) {
      this.#overlong.bytes += part.length;
      this.#overlong.tail = lastBytes(this.#overlong.tail, part);
      return;
    }
    if (this.#heldBytes + part.length > this.#lineMaxBytes) {
      this.#letGo(part);
      return;
    }
    const wanted = this.#heldBytes + part.length;
    if (this.#held === null || this.#held.length < wanted) {
      const capacity = Math.max(wanted, 2 * (this.#held?.length ?? 0), firstCapacityBytes);
      const grown = Buffer.allocUnsafeSlow(Math.min(capacity, Math.max(wanted, this.#lineMaxBytes)));
      this.#held?.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
    }
    part.copy(this.#held, this.#heldBytes);
    this.#heldBytes = wanted;
  }

  #letGo(part: Buffer): void {
    const held = this.#held?.subarray(0, this.#heldBytes) ?? Buffer.alloc(0);
    const head = Buffer.concat([held.subarray(0, endBytes), part.subarray(0, endBytes)]).subarray(0, endBytes);
    const tail = lastBytes(held.subarray(-endBytes), part);
    this.#overlong = { head, tail, bytes: held.length + part.length };
    this.#held = null;
    this.#heldBytes = 0;
  }
}

function lastBytes(before: Buffer, part: Buffer): Buffer {
  if (part.length >= endBytes) return Buffer.from(part.subarray(-endBytes));
  return Buffer.concat([before, part]).subarray(-endBytes);
}
