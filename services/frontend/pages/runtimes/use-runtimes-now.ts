import { useEffect, useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { followRuntimes } from '../../graphql/live.ts';
import type { Runtime } from './runtime-state.tsx';

type Rows = readonly Runtime[] | null;

const nothing: ReadonlyMap<string, Runtime> = new Map();

/** The runtimes of both lists, each with the state that it has told since the lists were read. Null until both are. */
export function useRuntimesNow(shared: Rows, own: Rows) {
  const { workspace } = usePlace();
  const [heard, setHeard] = useState({ shared, own, states: nothing });
  // Lists that are read again are newer than what was heard before.
  if (heard.shared !== shared || heard.own !== own) setHeard({ shared, own, states: nothing });
  useEffect(
    () =>
      followRuntimes(workspace.id, (runtime) =>
        setHeard((before) => ({ ...before, states: new Map(before.states).set(runtime.id, runtime) })),
      ),
    [workspace.id],
  );
  if (shared === null || own === null) return null;
  const now = (row: Runtime) => heard.states.get(row.id) ?? row;
  return { shared: shared.map(now), own: own.map(now) };
}
