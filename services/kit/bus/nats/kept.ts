import {
  JetStreamApiError,
  JetStreamError,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import { isClustered, isNotAnswered } from './election.ts';

const streamNotFound = 10059;
const noPeers = 10005;
/** No room for the stream, for the record in it, or on the disk below (NATS, server/errors.json). */
const isFull = [10023, 10028, 10047, 10077];
const wrongLastSequence = [10071, 10164];

/** A connection, as whoever keeps something in JetStream uses it. */
export interface NatsPlace {
  readonly connection: NatsConnection;
  /** Throws where the connection can't be used now. */
  readonly checkUsable: () => void;
}

/** Of a cluster so many nodes keep everything: any one of them may die. */
const replicas = 3;

export type KeptStream = Partial<StreamConfig> & { name: string };

/** Makes the stream, or makes it as it should be where there is one already. What it holds stays. */
export async function ensureStream(connection: NatsConnection, config: KeptStream): Promise<void> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  try {
    if (!isClustered(connection)) return await ensure(manager, config);
    await ensure(manager, { ...config, num_replicas: replicas }).catch(async (error: unknown) => {
      if (!isApiError(error, [noPeers])) throw error;
      // While one is away what is there stays as it is, and what is made begins on one: whoever looks next makes it three.
      await ensure(manager, config);
    });
  } catch (error) {
    throw storageError(error);
  }
}

async function ensure(manager: JetStreamManager, config: KeptStream): Promise<void> {
  // Never added where it is there: NATS would first look whether another of its size has room.
  if (await isAdjusted(manager, config)) return;
  await manager.streams.add(config).catch(async (error: unknown) => {
    // Somebody else may have made it in the meantime.
    if (!(await isAdjusted(manager, config))) throw error;
  });
}

/** False where there is no such stream. */
async function isAdjusted(manager: JetStreamManager, { name, storage: _, ...changeable }: KeptStream) {
  try {
    // How it is kept can't be changed of what is there.
    await manager.streams.update(name, changeable);
    return true;
  } catch (error) {
    if (isNoStream(error)) return false;
    throw error;
  }
}

/** There is no such stream: nobody takes what is sent to it. */
export function isGone(error: unknown): boolean {
  return isNoStream(error) || isNotAnswered(error);
}

/** NATS itself says that there is none. */
export function isNoStream(error: unknown): boolean {
  return isApiError(error, [streamNotFound]);
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
  if (error instanceof Error && error.name === 'TimeoutError') {
    // A stream that could not be written once answers nobody any more, until NATS is started anew.
    return new SvcError('unavailable', 'The bus did not say in time whether it kept or found what was asked for.', {
      hint: 'Its disk may be full, which svc status tells.',
      cause: error,
    });
  }
  const said = error instanceof JetStreamError || error instanceof JetStreamApiError ? error.message : '';
  if (/no space left on device/i.test(said)) {
    const hint = 'Free some space where NATS keeps its data, and try again.';
    return full('The disk of the bus is full', hint, error);
  }
  if (isApiError(error, isFull)) {
    return full(
      'The bus has no room left',
      'Make room on its disk, or let JetStream take more of it (max_file_store), then try again.',
      error,
    );
  }
  const what = said === '' ? '' : `: ${said}`;
  return new SvcError('unavailable', `The bus could not keep or find what was asked for${what}.`, { cause: error });
}

function full(what: string, hint: string, cause: unknown): SvcError {
  const message = `${what}: nothing was kept, and nothing that was there is lost.`;
  return new SvcError('unavailable', message, { hint, cause });
}

function isApiError(error: unknown, codes: readonly number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}
