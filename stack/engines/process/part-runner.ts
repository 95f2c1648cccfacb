import { SvcError } from '../../../services/contracts/errors.ts';
import { hostOf } from '../../../services/contracts/host-of.ts';
import { pollReadiness, type Readiness, type ReadinessWait } from '../../lifecycle/readiness.ts';
import { isFree } from '../../machine/is-free.ts';
import { portOf } from '../../machine/port-of.ts';
import { listensAt, type Part } from '../../parts/part.ts';
import { lostPort } from '../../ports/claim-ports.ts';
import { describePortOwner } from '../../state/port-owner.ts';
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
  /** Whether the part itself is ready: an answer of another program on its port does not count. */
  readiness(signal: AbortSignal): Promise<Readiness>;
  /** How it ended, in words that follow its name. Never resolves for a part inside this process. */
  readonly ended: Promise<string>;
  /** Whether the part answers at all, even that it is not ready. Always true inside this process. */
  answers(): Promise<boolean>;
  /** Lets the part finish its work within a deadline, then leaves no process of it. */
  stop(how: StopHow): Promise<void>;
}

/** `drain`: the other parts stay, so the part may take its time. `hurry`: all parts end. */
export type StopHow = 'drain' | 'hurry';

/** Waits for a part that starts. Throws why it ended, or `timeout`. */
export async function becomesReady(part: Part, running: RunningPart, wait: ReadinessWait): Promise<void> {
  const looking = new AbortController();
  const ended = running.ended.then(async (reason) => {
    // A part that ended later restarts meanwhile, on the same ports.
    if (!looking.signal.aborted) await refuseTakenPorts(part);
    throw new SvcError('unavailable', `it ${reason}`);
  });
  try {
    const signal = AbortSignal.any([wait.signal, looking.signal]);
    await Promise.race([pollReadiness(() => running.readiness(signal), { ...wait, signal }), ended]);
  } finally {
    looking.abort();
  }
}

/** The kernel frees the port of a killed process a moment after the process is gone. */
export const portPatienceMs = 1000;

/** Another program on a port of a part would answer in its place. */
export async function refuseTakenPorts(part: Part): Promise<void> {
  for (const address of listensAt(part)) {
    const port = portOf(address);
    if (await isFree(hostOf(address), port, portPatienceMs)) continue;
    throw lostPort(`Port ${port} of ${part.name} is in use by ${describePortOwner(port)}.`);
  }
}
