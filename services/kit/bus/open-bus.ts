import { SvcError } from '../../contracts/errors.ts';
import { newProcessId, type ProcessId } from '../../contracts/ids.ts';
import type { Logger } from '../log.ts';
import type { Bus, Credentials, Hub } from './bus.ts';

export interface OpenBusOptions {
  /** As in BUS_SERVERS. */
  readonly servers: readonly string[];
  readonly credentials: Credentials;
  /** A backend's process id. Any other process has a random nonce here and learns its id from the bus. */
  readonly nonce?: ProcessId;
  /** The bus inside this process; null when there is none. */
  readonly hub: Hub | null;
  /** As in BUS_CA_PATH. */
  readonly caPath?: string | undefined;
  /** As in BUS_PERSISTENT_MESSAGING, for services that store data on the bus. */
  readonly persistent?: boolean;
  readonly logger: Logger;
}

/** Connects to the bus in BUS_SERVERS. This is the only place that chooses an engine. */
export async function openBus(options: OpenBusOptions): Promise<Bus> {
  const { servers, credentials, nonce = newProcessId(), hub, caPath = null, persistent = true, logger } = options;
  if (!servers.includes('inproc:')) {
    // A bus inside this process does not need the memory of NATS's client.
    const { connectNats } = await import('./nats/connect.ts');
    return await connectNats({ servers, caPath, credentials, nonce, persistent, logger });
  }
  if (hub !== null) return await hub.connect(credentials, nonce);
  throw new SvcError(
    'invalid_input',
    'BUS_SERVERS "inproc:" names the bus of one process, and this process has none.',
    { hint: 'Run the platform in one process (svc up), or let BUS_SERVERS name a NATS server.' },
  );
}
