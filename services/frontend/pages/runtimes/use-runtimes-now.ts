import { useEffect, useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { followRuntimes, useConnection } from '../../graphql/live.ts';
import type { Runtime } from './runtime-state.tsx';

type Rows = readonly Runtime[] | null;

const nothing: ReadonlyMap<string, Runtime> = new Map();

/**
 * The runtimes of both lists, each with the state that it has told. While the connection is live, that state is never
 * older than a list, whose answer may have been on its way. Null until both lists are read.
 */
export function useRuntimesNow(shared: Rows, own: Rows) {
  const { workspace } = usePlace();
  const [states, setStates] = useState(nothing);
  const isLive = useConnection() === 'live';
  if (!isLive && states !== nothing) setStates(nothing);
  useEffect(
    () => followRuntimes(workspace.id, (runtime) => setStates((before) => new Map(before).set(runtime.id, runtime))),
    [workspace.id],
  );
  if (shared === null || own === null) return null;
  const now = (row: Runtime) => states.get(row.id) ?? row;
  return { shared: shared.map(now), own: own.map(now) };
}
