import type { Readable } from 'node:stream';

/**
 * Reads a stream so that handling it takes only a share of the process's time. A program that writes without end is
 * slowed by its own pipe, and no other is. Data that `isUseless` accepts is read one chunk at a time, because even
 * discarded memory has a cost.
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

/** Short windows, because a share of a long one would delay all others. */
const windowMs = 8;
const shareMs = 3;
