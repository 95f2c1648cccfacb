import type { Command } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import type { Backend } from '../context.ts';
import { toBody } from '../wire.ts';
import type { Said } from './processes.ts';
import type { Sender } from './sender.ts';

export interface Heard extends Said {
  /** The process has said nothing before, or says all of it now. */
  readonly whole?: boolean;
}

/**
 * Takes a sign of life. What a process reported before this backend knew it, others have taken back or this one has never seen: it is
 * asked for all of it again.
 */
export function hear(
  backend: Pick<Backend, 'bus' | 'processes'>,
  { runtime, process }: Sender,
  { whole = false, ...said }: Heard,
): void {
  if (!backend.processes.seen(runtime, process, said) || whole) return;
  backend.bus.publish(subjects.command(runtime, process), toBody({ kind: 'assignments' } satisfies Command));
}
