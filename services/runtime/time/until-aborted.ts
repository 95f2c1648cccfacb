/** Returns when the signal aborts; never, when `unless` aborts first. */
export function untilAborted(signal: AbortSignal, unless?: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const options = unless === undefined ? { once: true } : { once: true, signal: unless };
    signal.addEventListener('abort', () => resolve(), options);
  });
}
