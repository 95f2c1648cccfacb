import type { Command } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import type { RuntimeId } from '../../contracts/ids.ts';
import type { Backend } from '../context.ts';
import { toBody } from '../wire.ts';
import type { Sender } from './sender.ts';

/** Sends a command to every live process of these runtimes; a lost one is made up for by the etag of the next handshake. */
export function commandRuntimes(
  { bus, processes }: Pick<Backend, 'bus' | 'processes'>,
  runtimes: readonly RuntimeId[],
  command: Command,
): void {
  for (const id of new Set(runtimes)) commandProcesses(bus, processes.of(id), command);
}

/** Sends a command to these processes, whether this backend has heard of them yet or not. */
export function commandProcesses(bus: Backend['bus'], processes: readonly Sender[], command: Command): void {
  const body = toBody(command);
  for (const { runtime, process } of processes) bus.publish(subjects.command(runtime, process), body);
}
