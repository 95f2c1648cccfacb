import { answers } from '../../lifecycle/readiness.ts';
import type { ReadyCheck } from '../../parts/part.ts';
import { endGroup, killGroup } from '../../state/end-process.ts';
import type { ProcessIdentity } from '../../state/process-identity.ts';
import type { Ending, RunningPart } from './part-runner.ts';
import type { Patience } from './patience.ts';

export interface PartProcess {
  readonly process: ProcessIdentity;
  readonly ready: ReadyCheck;
  readonly ended: Promise<Ending>;
  readonly patience: Patience;
}

/** A part in a process of its own, started by this supervisor or by an earlier one. */
export function runningProcess({ process, ready, ended, patience }: PartProcess): RunningPart {
  return {
    ready,
    ended,
    answers: () => answers(ready),
    async stop(how) {
      await endGroup(process, how === 'drain' ? patience.drainMs : patience.hurryMs);
      // Children of the part may outlive it.
      killGroup(process);
    },
  };
}
