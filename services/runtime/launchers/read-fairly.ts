import type { Readable } from 'node:stream';

/**
 * Reads a stream so that handling it never takes more than a share of the process's time: one MCP server that writes without
 * end is held back by its own pipe and slows nobody else. What `isUseless` is taken in a chunk at a time, because even memory that is let
 * go at once costs everybody. The timer is gone when the stream is.
 */
export function readFairly(
  stream: Readable,
  handle: (chunk: Buffer) => void,
  isUseless: () => boolean = () => false,
): void {
  let windowStart = 0;
  let spentMs = 0;
  let pause: NodeJS.Timeout | undefined;
  stream.on('data', (chunk: Buffer) => {
    const before = performance.now();
    handle(chunk);
    const after = performance.now();
    if (before - windowStart > windowMs) {
      windowStart = before;
      spentMs = 0;
    }
    spentMs += after - before;
    if (spentMs < shareMs && !isUseless()) return;
    stream.pause();
    pause = setTimeout(() => stream.resume(), windowMs - shareMs);
  });
  stream.once('close', () => clearTimeout(pause));
}

/** Short windows, because a share of a long one is a long wait for everybody else. */
const windowMs = 8;
const shareMs = 3;
