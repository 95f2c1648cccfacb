import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: (options?: { readonly type: 'minor' }) => void = runInNewContext('gc');

/**
 * The growth of V8's old generation while `work` runs many times. Memory in it is only freed by a full collection. Small
 * collections before the last runs move every object that is still referenced there.
 */
export function keptBytes(work: () => void, times = 100_000): number {
  for (let run = 0; run < 1000; run++) work();
  for (let collection = 0; collection < 3; collection++) collect({ type: 'minor' });
  const before = oldBytes();
  for (let run = 0; run < times; run++) work();
  return oldBytes() - before;
}

/** What the process holds after a full collection. */
export function heldBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? Number.NaN;
}
