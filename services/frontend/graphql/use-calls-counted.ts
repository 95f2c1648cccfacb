import { useEffect, useRef } from 'react';
import { onCallsCounted } from './live.ts';

/** A sum of many calls is not asked for more often. */
const restMs = 2000;

/** Asks again after calls of agents were counted. */
export function useCallsCounted(ask: () => void): void {
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listener = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current();
      }, restMs);
    };
    onCallsCounted.add(listener);
    return () => {
      onCallsCounted.delete(listener);
      clearTimeout(timer);
    };
  }, []);
}
