import type { Part } from '../parts/part.ts';

/** Starts each part once its dependencies run. After a failure it waits for all starts, then throws the first. */
export async function startInOrder<One extends { readonly part: Part }>(
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
