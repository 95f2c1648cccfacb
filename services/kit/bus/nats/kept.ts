import { JetStreamApiError, JetStreamError, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';

const streamNotFound = 10059;
/** No room for the stream, for the record in it, or on the disk below (NATS, server/errors.json). */
const isFull = [10023, 10028, 10047, 10077];
const wrongLastSequence = [10071, 10164];

/** A connection, as whoever keeps something in JetStream uses it. */
export interface NatsPlace {
  readonly connection: NatsConnection;
  /** Throws where the connection can't be used now. */
  readonly checkUsable: () => void;
}

export type KeptStream = Partial<StreamConfig> & { name: string };

/** Makes the stream, or makes it as it should be where there is one already. What it holds stays. */
export async function ensureStream(manager: JetStreamManager, config: KeptStream) {
  try {
    // Never added where it is there: NATS would first look whether another of its size has room.
    if (await isAdjusted(manager, config)) return;
    await manager.streams.add(config).catch(async (error: unknown) => {
      // Somebody else may have made it in the meantime.
      if (!(await isAdjusted(manager, config))) throw error;
    });
  } catch (error) {
    throw storageError(error);
  }
}

/** False where there is no such stream. */
async function isAdjusted(manager: JetStreamManager, { name, storage: _, ...changeable }: KeptStream) {
  try {
    // How it is kept can't be changed of what is there.
    await manager.streams.update(name, changeable);
    return true;
  } catch (error) {
    if (isApiError(error, [streamNotFound])) return false;
    throw error;
  }
}

/** There is no such stream: nobody takes what is sent to it. */
export function isGone(error: unknown): boolean {
  return isApiError(error, [streamNotFound]) || isNotAnswered(error);
}

export function isConflict(error: unknown): boolean {
  return isApiError(error, wrongLastSequence);
}

/** What JetStream says, in our words. */
export function storageError(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  if (isNotAnswered(error)) {
    return new SvcError('unavailable', 'The bus keeps nothing: JetStream does not answer there.', {
      hint: 'Is JetStream enabled for the account of the platform? svc status tells how the bus is.',
      cause: error,
    });
  }
  if (isApiError(error, isFull)) {
    return new SvcError(
      'unavailable',
      'The bus has no room left: nothing was kept there, and nothing that was there is lost.',
      {
        hint: 'Make room on its disk, or let JetStream take more of it (max_file_store), then try again.',
        cause: error,
      },
    );
  }
  const what = error instanceof JetStreamError || error instanceof JetStreamApiError ? `: ${error.message}` : '';
  return new SvcError('unavailable', `The bus could not keep or find what was asked for${what}.`, { cause: error });
}

function isApiError(error: unknown, codes: readonly number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

/** Where nobody answers, the client says that JetStream is not enabled, in a class that it keeps to itself. */
function isNotAnswered(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}
