import type { Command } from '../../contracts/bus/messages.ts';
import type { RuntimeId } from '../../contracts/ids.ts';
import { commandProcesses } from '../bus/command-processes.ts';
import type { WithBus } from '../bus/with-bus.ts';
import type { WithProcesses } from './processes.ts';

/** Sends a command to every live process of these runtimes. The etag of the next handshake makes up for a lost one. */
export function commandRuntimes(
  { bus, processes }: WithBus & WithProcesses,
  runtimes: readonly RuntimeId[],
  command: Command,
): void {
  for (const id of new Set(runtimes)) commandProcesses(bus, processes.of(id), command);
}
