/** The backend writes one change after the other; more at once would only wait there. */
const concurrency = 8;

/** The results in the order of the items. The first failure ends it: what is under way finishes, and nothing new begins. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const rest = items.entries();
  const results: Result[] = [];
  let failed = false;
  const worker = async () => {
    for (const [index, item] of rest) {
      if (failed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return results;
}
