import type { Command } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import type { Sender } from '../bus/sender.ts';
import { toBody } from '../bus/wire.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { Said, WithProcesses } from './processes.ts';

export interface Heard extends Said {
  /** The process has said nothing before, or says all of it now. */
  readonly whole?: boolean;
}

/**
 * Takes a sign of life. What a process reported before this backend knew it, others have taken back or this one has never seen: it is
 * asked for all of it again.
 */
export function hear(
  backend: WithBus & WithProcesses,
  { runtime, process }: Sender,
  { whole = false, ...said }: Heard,
): void {
  if (!backend.processes.seen(runtime, process, said) || whole) return;
  backend.bus.publish(subjects.command(runtime, process), toBody({ kind: 'assignments' } satisfies Command));
}
