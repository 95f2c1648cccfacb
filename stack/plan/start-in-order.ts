import type { Part } from '../parts/part.ts';

/** What runs as a part. */
interface Runs {
  readonly part: Pick<Part, 'name' | 'after'>;
}

/**
 * Starts each once those that it needs are started. Waits for all of them also where one fails, so that none is still starting when what was
 * started is ended; then throws why the first one did.
 */
export async function startInOrder<One extends Runs>(
  all: readonly One[],
  start: (one: One) => Promise<void>,
): Promise<void> {
  const starting = new Map<string, Promise<void>>();
  for (const one of all) {
    const needed = Promise.all(one.part.after.map((name) => starting.get(name)));
    starting.set(
      one.part.name,
      needed.then(() => start(one)),
    );
  }
  const failed = (await Promise.allSettled(starting.values())).find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
