import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../contracts/errors.ts';
import type { Held } from '../budget.ts';
import { HttpRefusal } from './http-refusal.ts';

export const bodyMaxBytes = 4 * 1024 * 1024;
/** Copies of a message until it is answered: its bytes, its text, and the copy for the MCP server. */
const copies = 3;
/** Memory reserved for a body of unknown length at first. */
const unknownBytes = 16 * 1024;

export interface Pace {
  /** A client must send the rest of the body, or this many bytes, in each period. */
  readonly bytes: number;
  readonly periodMs: number;
}

/** 13 KiB a second: less is a broken line or an attack. */
const slowest: Pace = { bytes: 64 * 1024, periodMs: 5000 };

/** Each chunk costs as much as some kilobytes: a body of single bytes would hold the event loop for seconds. */
const piecesMax = 1024;
const pieceBytes = 64;

/** The complete body. Its memory is counted before a byte is kept. Null when the client left. */
export async function readBody(
  request: IncomingMessage,
  held: Pick<Held, 'resize'>,
  pace = slowest,
): Promise<Buffer | null> {
  const length = request.headers['content-length'];
  const body = new Body(held);
  body.expect(length);
  // Most bodies arrive in one read with their head: by then all of it is available.
  await null;
  const isWhole = request.readableLength > 0 && request.readableLength === Number(length);
  return isWhole ? request.read() : await readPieces(request, body, pace);
}

function readPieces(request: IncomingMessage, body: Body, pace: Pace): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const refuse = (refusal: unknown) => {
      clearInterval(checking);
      request.removeAllListeners('data');
      reject(refusal);
    };
    let checked = 0;
    const checking = setInterval(() => {
      if (body.length - checked < pace.bytes) refuse(tooSlow(pace));
      checked = body.length;
    }, pace.periodMs);
    request.on('data', (piece: Buffer) => {
      try {
        body.append(piece);
      } catch (refusal) {
        refuse(refusal);
      }
    });
    request.on('end', () => {
      clearInterval(checking);
      resolve(body.bytes);
    });
    request.on('error', () => {
      clearInterval(checking);
      resolve(null);
    });
  });
}

const nothing = Buffer.alloc(0);

/** Chunks in one buffer: a kept chunk of one byte would take a hundred. */
class Body {
  readonly #held: Pick<Held, 'resize'>;
  #buffer: Buffer = nothing;
  #capacity = 0;
  #pieces = 0;
  length = 0;

  constructor(held: Pick<Held, 'resize'>) {
    this.#held = held;
  }

  get bytes(): Buffer {
    return this.#buffer.length === this.length ? this.#buffer : this.#buffer.subarray(0, this.length);
  }

  expect(contentLength: string | undefined): void {
    this.#reserve(contentLength === undefined ? unknownBytes : Number(contentLength));
  }

  append(piece: Buffer): void {
    const length = this.length + piece.length;
    if (++this.#pieces > piecesMax + length / pieceBytes) throw tooManyPieces();
    if (length > this.#capacity) this.#reserve(Math.max(length, Math.min(2 * this.#capacity, bodyMaxBytes)));
    // Most bodies arrive in one chunk, which needs no copy.
    if (this.length === 0) this.#buffer = piece;
    else {
      if (length > this.#buffer.length) this.#move();
      this.#buffer.set(piece, this.length);
    }
    this.length = length;
  }

  #reserve(capacity: number): void {
    if (capacity > bodyMaxBytes) throw tooLarge();
    this.#held.resize(capacity * copies);
    this.#capacity = capacity;
  }

  #move(): void {
    const moved = Buffer.allocUnsafeSlow(this.#capacity);
    moved.set(this.bytes);
    this.#buffer = moved;
  }
}

function tooLarge(): SvcError {
  return new SvcError('too_large', `The body is above the limit of ${bodyMaxBytes} bytes.`);
}

function tooManyPieces(): SvcError {
  return new SvcError('invalid_input', 'The body arrived in too many small chunks.', {
    hint: 'Send it in larger ones, or with its Content-Length.',
  });
}

function tooSlow({ bytes, periodMs }: Pace): HttpRefusal {
  const message = `The body arrived too slowly: less than ${bytes} bytes in ${periodMs / 1000} s.`;
  return new HttpRefusal('timeout', message, { status: 408 });
}
