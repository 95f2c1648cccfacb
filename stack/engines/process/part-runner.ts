import type { Part, ReadyCheck } from '../../parts/part.ts';
import type { ProcessIdentity } from '../../state/process-identity.ts';

/** One way of running parts: inside this process, or each in a process of its own. */
export interface PartRunner {
  /** Resolves once it is under way, which is before it is ready. */
  start(part: Part, told: Told): Promise<RunningPart>;
  /** Ends what parts shared, after the last of them. */
  close(): Promise<void>;
}

export interface Told {
  /** Called before anything of the part runs in that process, so that it can be found whatever happens to this one. */
  readonly born: (process: ProcessIdentity) => void;
}

export interface RunningPart {
  readonly ready: ReadyCheck;
  /** Never resolves for a part that cannot end without this process. */
  readonly ended: Promise<Ending>;
  /** Whether it says anything, be it that it is not ready. Always where it could not be silent without this process. */
  answers(): Promise<boolean>;
  /** Lets it finish what is under way, within a deadline, and leaves nothing of it. */
  stop(how: StopHow): Promise<void>;
}

/** `drain`: the rest runs on, so that it may take its time. `hurry`: all of it ends. */
export type StopHow = 'drain' | 'hurry';

/** How a part came to an end. */
export interface Ending {
  /** In words that follow its name. */
  readonly reason: string;
  /** Another program has its port. */
  readonly portTaken: boolean;
}
