import { rmSync } from 'node:fs';
import { type ChangesOfKind, changesBetween } from '../../../services/backend/graph/content.ts';
import type { EnvRecord } from '../../../services/contracts/env/check.ts';
import { prepareDaemon } from '../../engines/docker/prepared-daemon.ts';
import { isUp } from '../../engines/engine-of.ts';
import { planOf, readPlan } from '../../engines/plan-of.ts';
import type { Installation } from '../../state/installation.ts';
import type { LeftProcess } from '../../state/left-processes.ts';
import { keptDirOf, type MoveState, stagingDirOf, writeMove } from './move-state.ts';
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
  const before = planOf(installation, readKeptDefinition(installation, state));
  const now = readPlan(installation);
  const processes: LeftProcess[] = [];
  let isNoted = false;
  const note = () => {
    isNoted = true;
    const docker = state.docker === null ? null : { ...state.docker, isBusy: true };
    writeMove(installation, { ...state, processes, docker });
  };
  const born = (process: LeftProcess) => {
    processes.push(process);
    note();
  };
  const plans = [before, now].filter(({ definition }) => definition.engine === 'docker');
  const preparation = { installation, plans, env, signal, onNotice: () => undefined };
  const daemon = plans.length === 0 ? null : await prepareDaemon(preparation);
  if (daemon !== null) note();
  const wanted = { bus: false, graph: true, blobs: false };
  const shared = { wanted, to: 'read', daemon, env, born, signal } as const;
  try {
    return await withSide({ ...shared, plan: before, dir: keptDirOf(installation, state) }, (then) =>
      withSide({ ...shared, plan: now, dir: installation.dataDir, isRunning: isUp(installation) }, async (there) =>
        then.graph === null || there.graph === null ? [] : await changesBetween(then.graph, there.graph),
      ),
    );
  } finally {
    rmSync(stagingDirOf(installation), { recursive: true, force: true });
    if (isNoted) writeMove(installation, state);
  }
}
