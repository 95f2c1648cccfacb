import { SvcError } from '../../contracts/errors.ts';
import type { ProcessId } from '../../contracts/ids.ts';
import type { Bus, Credentials, Hub } from './bus.ts';

export interface OpenBusOptions {
  /** As BUS_SERVERS says it. */
  readonly servers: readonly string[];
  readonly credentials: Credentials;
  readonly process: ProcessId;
  /** The bus inside this process, or null where there is none. */
  readonly hub: Hub | null;
}

/** Connects to the bus that BUS_SERVERS names: the one place that chooses an engine. */
export async function openBus({ servers, credentials, process, hub }: OpenBusOptions): Promise<Bus> {
  if (!servers.includes('inproc:')) {
    throw new SvcError(
      'unsupported',
      `BUS_SERVERS "${servers.join(',')}" names a bus that this version cannot reach.`,
      {
        hint: 'Set BUS_SERVERS=inproc: and run the platform in one process: svc up.',
      },
    );
  }
  if (hub === null) {
    throw new SvcError(
      'invalid_input',
      'BUS_SERVERS "inproc:" names the bus of one process, and this process has none.',
      {
        hint: 'Run the platform in one process: svc up.',
      },
    );
  }
  return await hub.connect(credentials, process);
}
