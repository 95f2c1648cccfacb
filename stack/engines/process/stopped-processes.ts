import type { Status } from '../../lifecycle/platform-status.ts';
import { stoppedStatus } from '../../lifecycle/stopped-status.ts';
import { describeNodeLoss } from '../../place/kept-data.ts';
import type { Plan } from '../../plan/plan.ts';
import { findOriginal } from '../../state/find-original.ts';
import { readFailure, readRecord } from '../../state/platform-record.ts';
import { transition } from '../../state/transition.ts';
import { findUnwantedEnd } from './find-unwanted-end.ts';

/** The status of a platform that does not run. A copy has only the records of its original. */
export async function stoppedProcesses(plan: Plan): Promise<Status> {
  const { installation } = plan;
  if (findOriginal(installation) !== null) {
    const serviceOf = () => ({ state: 'stopped', reason: null, pid: null }) as const;
    return stoppedStatus(plan, { ended: null, serviceOf });
  }
  const failure = readFailure(installation);
  const left = readRecord(installation)?.services ?? [];
  return stoppedStatus(plan, {
    ended: await findUnwantedEnd(installation),
    serviceOf: (name) => ({
      // The record still has the state before the process ended.
      state: transition(left.find((one) => one.name === name)?.state ?? 'stopped', 'ended'),
      reason:
        describeNodeLoss(installation, name) ??
        (failure?.service === name || failure?.service === 'platform' ? failure.message : null),
      pid: null,
    }),
  });
}
