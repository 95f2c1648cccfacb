/** Receiver of a line reader. Lines are without their newline and are the receiver's own. */
export interface LineSink {
  line(line: Buffer): void;
  /** A line beyond the size limit was dropped while it streamed; its two ends identify it. */
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
/** Smaller parts are copied together, so that a line that arrives byte by byte does not become many tiny buffers. */
const smallBytes = 4096;
const blockBytes = 64 * 1024;

/**
 * Cuts a byte stream into lines. A line inside one chunk is passed on without a copy, and a line of several chunks is
 * joined once complete. An overlong line is dropped without a copy.
 */
export class LineReader {
  readonly #lineMaxBytes: number;
  readonly #sink: LineSink;
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  /** Buffer for small parts, filled up to `#blockUsed`. */
  #block: Buffer | null = null;
  #blockUsed = 0;
  #overlong: { head: Buffer; tail: Buffer; bytes: number } | null = null;

  constructor(lineMaxBytes: number, sink: LineSink) {
    this.#lineMaxBytes = lineMaxBytes;
    this.#sink = sink;
  }

  /** The current data belongs to a dropped line. */
  get isDropping(): boolean {
    return this.#overlong !== null;
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

  /** The stream has ended: the rest counts as a line. */
  end(): void {
    if (this.#heldBytes > 0 || this.#overlong !== null) this.#finish(Buffer.alloc(0));
  }

  #finish(rest: Buffer): void {
    if (this.#overlong === null && this.#heldBytes === 0 && rest.length <= this.#lineMaxBytes) {
      this.#sink.line(rest);
      return;
    }
    if (rest.length > 0) this.#keep(rest);
    const overlong = this.#overlong;
    this.#overlong = null;
    if (overlong !== null) this.#sink.overlong(overlong);
    else this.#sink.line(this.#takeHeld());
  }

  #keep(part: Buffer): void {
    if (this.#overlong !== null) {
      this.#overlong.bytes += part.length;
      this.#overlong.tail = lastBytes(this.#overlong.tail, part);
    } else if (this.#heldBytes + part.length > this.#lineMaxBytes) {
      this.#letGo(part);
    } else {
      this.#heldBytes += part.length;
      if (part.length < smallBytes) this.#copyTogether(part);
      else this.#addPiece(part);
    }
  }

  #addPiece(part: Buffer): void {
    this.#closeBlock();
    this.#pieces.push(part);
  }

  #copyTogether(part: Buffer): void {
    if (this.#block === null || this.#blockUsed + part.length > this.#block.length) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
    }
    this.#blockUsed += part.copy(this.#block, this.#blockUsed);
  }

  #closeBlock(): void {
    if (this.#block !== null) this.#pieces.push(this.#block.subarray(0, this.#blockUsed));
    this.#block = null;
    this.#blockUsed = 0;
  }

  #takePieces(): readonly Buffer[] {
    this.#closeBlock();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#heldBytes = 0;
    return pieces;
  }

  #takeHeld(): Buffer {
    const pieces = this.#takePieces();
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }

  #letGo(part: Buffer): void {
    const bytes = this.#heldBytes + part.length;
    const pieces = [...this.#takePieces(), part];
    const head = Buffer.concat(pieces.map((piece) => piece.subarray(0, endBytes))).subarray(0, endBytes);
    const tail = Buffer.concat(pieces.map((piece) => piece.subarray(-endBytes))).subarray(-endBytes);
    // Copies of the ends alone: a view would keep all of it.
    this.#overlong = { head: Buffer.from(head), tail: Buffer.from(tail), bytes };
  }
}

function lastBytes(before: Buffer, part: Buffer): Buffer {
  if (part.length >= endBytes) return Buffer.from(part.subarray(-endBytes));
  return Buffer.concat([before, part]).subarray(-endBytes);
}
