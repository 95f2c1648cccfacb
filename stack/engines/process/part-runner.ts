import type { Part, ReadyCheck } from '../../parts/part.ts';
import type { ProcessIdentity } from '../../state/process-identity.ts';

/** Runs parts inside this process, or each in its own process. */
export interface PartRunner {
  /** Resolves once the part runs, before it is ready. */
  start(part: Part, told: ProcessListener): Promise<RunningPart>;
  /** Ends what the parts share, after the last part. */
  close(): Promise<void>;
}

export interface ProcessListener {
  /** Ends a start that still waits for another part. */
  readonly signal: AbortSignal;
  /** Called before the process runs its program, so that its id is recorded in time. */
  readonly born: (process: ProcessIdentity) => void;
}

export interface RunningPart {
  readonly ready: ReadyCheck;
  /** Never resolves for a part inside this process. */
  readonly ended: Promise<Ending>;
  /** Whether the part answers at all, even that it is not ready. Always true inside this process. */
  answers(): Promise<boolean>;
  /** Lets the part finish its work within a deadline, then leaves no process of it. */
  stop(how: StopHow): Promise<void>;
}

/** `drain`: the other parts stay, so the part may take its time. `hurry`: all parts end. */
export type StopHow = 'drain' | 'hurry';

/** How a part ended. */
export interface Ending {
  /** In words that follow its name. */
  readonly reason: string;
  /** Whether another program has its port. */
  readonly portTaken: boolean;
}
