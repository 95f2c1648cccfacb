import type { Command } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import type { RuntimeId } from '../../contracts/ids.ts';
import type { Sender } from './sender.ts';
import { toBody } from './wire.ts';
import type { WithBus } from './with-bus.ts';

/** Sends a command to these processes, also to those from which this backend has received nothing yet. */
export function commandProcesses(bus: WithBus['bus'], processes: readonly Sender[], command: Command): void {
  const body = toBody(command);
  for (const { runtime, process } of processes) bus.publish(subjects.command(runtime, process), body);
}

/**
 * Sends a command to every live process of these runtimes. The etag of the next handshake makes up for a lost command.
 */
export type CommandRuntimes = (runtimes: readonly RuntimeId[], command: Command) => void;
