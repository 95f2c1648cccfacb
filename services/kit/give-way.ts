/** Calls would notice longer work without a pause. */
const stretchMs = 2;

/** Work done in this turn of the event loop by all callers of `giveWay`. */
interface Stretch {
  readonly since: number;
  readonly ends: Promise<void>;
}

let stretch: Stretch | null = null;

/**
 * Awaited between pieces of long work: returns at once, unless such work has held the event loop for a while. Then
 * calls are handled first.
 */
export async function giveWay(): Promise<void> {
  while (stretch !== null && performance.now() - stretch.since > stretchMs) await stretch.ends;
  stretch ??= begin();
}

function begin(): Stretch {
  const { promise: ends, resolve } = Promise.withResolvers<void>();
  setImmediate(() => {
    stretch = null;
    resolve();
  });
  return { since: performance.now(), ends };
}
