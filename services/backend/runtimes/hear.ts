import type { Command } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import type { Sender } from '../bus/sender.ts';
import { toBody } from '../bus/wire.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { ProcessProperties, WithProcesses } from './processes.ts';

export interface SignOfLife extends ProcessProperties {
  /** True if the process has reported nothing before, or reports everything now. */
  readonly whole?: boolean;
}

/**
 * Handles a sign of life. If this backend does not know the process, its earlier reports may be withdrawn or unknown,
 * so the backend requests a full report.
 */
export function hear(
  backend: WithBus & WithProcesses,
  { runtime, process }: Sender,
  { whole = false, ...said }: SignOfLife,
): void {
  if (!backend.processes.seen(runtime, process, said) || whole) return;
  backend.bus.publish(subjects.command(runtime, process), toBody({ kind: 'assignments' } satisfies Command));
}
