import type { IncomingMessage } from 'node:http';

/** Further chunks that are read of a refused body of unknown length. */
const piecesMax = 256;
/** From one read of a body to the next: 1.3 MB a second. */
const pauseMs = 50;
/** Bodies that are read at that rate. With more of them, each is read more slowly. */
const fastMax = 8;
const deadlineMs = 10_000;

/**
 * Reads refused bodies slowly and drops them, so that each client can read its answer and use its connection again. A
 * body that takes too long, or comes in too many chunks, ends its connection.
 */
export class RefusedBodies {
  #reading = 0;

  drop(request: IncomingMessage): void {
    if (request.complete) return;
    const isKnown = request.headers['content-length'] !== undefined;
    let pieces = 0;
    request.on('data', () => {
      if (isKnown) this.#pause(request);
      else if (++pieces > piecesMax) request.destroy();
    });
    request.resume();
    this.#reading++;
    const late = setTimeout(() => request.destroy(), deadlineMs).unref();
    request.once('close', () => {
      this.#reading--;
      clearTimeout(late);
    });
  }

  #pause(request: IncomingMessage): void {
    request.pause();
    setTimeout(() => request.resume(), pauseMs * Math.max(1, this.#reading / fastMax)).unref();
  }
}
