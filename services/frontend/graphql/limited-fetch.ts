type Fetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` with a bound on requests at once; the others wait in their order. A long list asks for all its pages when
 * something changes, and the backend refuses a person with too many operations. Over HTTP/2 the browser has no bound.
 */
export function limitedFetch(fetchNow: Fetch, atOnce: number): Fetch {
  const waiting: (() => void)[] = [];
  let free = atOnce;
  return async (input, init) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      // A question that was dropped while it waited is not asked.
      init?.signal?.throwIfAborted();
      return await fetchNow(input, init);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
