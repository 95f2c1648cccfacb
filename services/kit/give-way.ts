/** Work without a pause for longer than this would be felt by calls. */
const stretchMs = 2;

/** What has been done in this turn of the event loop by all who give way. */
interface Stretch {
  readonly since: number;
  readonly ends: Promise<void>;
}

let stretch: Stretch | null = null;

/**
 * Awaited between the pieces of work that may be long: returns at once, unless such work has held the event loop for a while. Then calls
 * get through first.
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
