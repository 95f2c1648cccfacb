import type { Part } from '../../parts.ts';
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
  /** Where it can be asked whether it is ready. */
  readonly readyUrl: string;
  /** Why it ended, in words that follow its name. Never resolves for a part that cannot end without this process. */
  readonly ended: Promise<string>;
  /** Lets it finish what is under way, within a deadline, and leaves nothing of it. */
  stop(): Promise<void>;
}
