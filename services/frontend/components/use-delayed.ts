import { useEffect, useState } from 'react';

/** A pause in typing. Shorter ones would ask the backend for every letter. */
const pauseMs = 150;

/** The value as it was before a person began to type on. */
export function useDelayed<Value>(value: Value): Value {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return delayed;
}
