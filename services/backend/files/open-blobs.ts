import { SvcError } from '../../contracts/errors.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import type { Blobs } from './blobs.ts';
import { FolderBlobs } from './folder-blobs.ts';

/** The only place that chooses an engine: the folder in FILES_DIR, or the bus when it is not set. */
export async function openBlobs(dir: string | undefined, bus: Bus): Promise<Blobs> {
  if (dir !== undefined) return await FolderBlobs.open(dir);
  // A folder does not need the memory of NATS's client.
  const { NatsBus } = await import('../../kit/bus/nats/nats-bus.ts');
  const { JetStreamBlobs } = await import('./jetstream-blobs.ts');
  if (bus instanceof NatsBus) return await JetStreamBlobs.open(bus.place());
  throw new SvcError('invalid_input', 'Files need a place: the bus inside one process cannot store files.', {
    hint: 'Set FILES_DIR to a folder, or let BUS_SERVERS name a NATS server.',
  });
}
