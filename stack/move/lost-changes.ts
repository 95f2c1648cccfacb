import { type ChangesOfKind, changesBetween } from '../../services/backend/graph/content.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { Installation } from '../installation.ts';
import { planOf, readPlan } from '../lifecycle/plan.ts';
import { findRunning } from '../state/find-running.ts';
import type { LeftProcess } from '../state/left-processes.ts';
import { keptDirOf, type MoveState, writeMove } from './move-state.ts';
import { withSide } from './side-content.ts';
import { readKeptDefinition } from './sides.ts';

export interface LostChanges {
  readonly installation: Installation;
  readonly state: MoveState;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
}

/** What differs in the graph from what was kept of it. The platform may run meanwhile, and goes on. */
export async function lostChanges({
  installation,
  state,
  env,
  signal,
}: LostChanges): Promise<readonly ChangesOfKind[]> {
  const processes: LeftProcess[] = [];
  const born = (process: LeftProcess) => {
    processes.push(process);
    writeMove(installation, { ...state, processes });
  };
  const shared = { wanted: { bus: false, graph: true, blobs: false }, to: 'read', env, born, signal } as const;
  const before = planOf(installation, readKeptDefinition(installation, state));
  const isRunning = findRunning(installation) !== null;
  try {
    return await withSide({ ...shared, plan: before, dir: keptDirOf(installation, state) }, (then) =>
      withSide({ ...shared, plan: readPlan(installation), dir: installation.dataDir, isRunning }, async (now) =>
        then.graph === null || now.graph === null ? [] : await changesBetween(then.graph, now.graph),
      ),
    );
  } finally {
    if (processes.length > 0) writeMove(installation, state);
  }
}
