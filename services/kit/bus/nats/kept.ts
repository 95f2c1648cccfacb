import {
  JetStreamApiError,
  JetStreamError,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import { answerTimeout, isClustered, isNotAnswered } from './election.ts';

const streamNotFound = 10059;
const noPeers = 10005;
/** NATS error codes for no room: in the stream, for the record, or on the disk (server/errors.json). */
const isFull = [10023, 10028, 10047, 10077];
const wrongLastSequence = [10071, 10164];

/** The connection as JetStream code needs it. */
export interface NatsPlace {
  readonly connection: NatsConnection;
  /** Throws when the connection cannot be used now. */
  readonly checkUsable: () => void;
}

/** Nodes of a cluster that keep each stream: any one of them may die. */
const replicas = 3;

export type KeptStream = Partial<StreamConfig> & { name: string };

/** Creates the stream, or adjusts an existing one. Its content stays. */
export async function ensureStream(connection: NatsConnection, config: KeptStream): Promise<void> {
  const manager = await jetstreamManager(connection, { checkAPI: false, ...answerTimeout(connection) });
  try {
    if (!isClustered(connection)) return await ensure(manager, config);
    await ensure(manager, { ...config, num_replicas: replicas }).catch(async (error: unknown) => {
      if (!isApiError(error, [noPeers])) throw error;
      // While a node is away, an existing stream stays unchanged and a new one starts on one node; the next call makes
      // it three.
      await ensure(manager, config);
    });
  } catch (error) {
    throw storageError(error);
  }
}

async function ensure(manager: JetStreamManager, config: KeptStream): Promise<void> {
  // Never added when it exists: NATS would first check whether another stream of its size has room.
  if (await isAdjusted(manager, config)) return;
  await manager.streams.add(config).catch(async (error: unknown) => {
    // Another process may have created it meanwhile.
    if (!(await isAdjusted(manager, config))) throw error;
  });
}

/** False when the stream does not exist. */
async function isAdjusted(manager: JetStreamManager, { name, storage: _, ...changeable }: KeptStream) {
  try {
    // The storage kind of an existing stream cannot be changed.
    await manager.streams.update(name, changeable);
    return true;
  } catch (error) {
    if (isNoStream(error)) return false;
    throw error;
  }
}

/** The stream does not exist: no server takes a message for it. */
export function isGone(error: unknown): boolean {
  return isNoStream(error) || isNotAnswered(error);
}

/** NATS itself says that the stream does not exist. */
export function isNoStream(error: unknown): boolean {
  return isApiError(error, [streamNotFound]);
}

export function isConflict(error: unknown): boolean {
  return isApiError(error, wrongLastSequence);
}

/** A JetStream error in the platform's words. */
export function storageError(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  if (isNotAnswered(error)) {
    return new SvcError('unavailable', 'The bus stores nothing: JetStream does not answer.', {
      hint: "Check that JetStream is enabled for the platform's account. Show the bus: svc status",
      cause: error,
    });
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    // A stream that failed to write once stops answering until NATS is restarted.
    return new SvcError('unavailable', 'The bus did not confirm in time that it stored or found the data.', {
      hint: 'Its disk may be full. Show the bus: svc status',
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
      "Make room on its disk, or raise JetStream's limit (max_file_store), then try again.",
      error,
    );
  }
  const what = said === '' ? '' : `: ${said}`;
  return new SvcError('unavailable', `The bus failed to store or find the data${what}.`, { cause: error });
}

function full(what: string, hint: string, cause: unknown): SvcError {
  const message = `${what}: nothing was stored, and no stored data is lost.`;
  return new SvcError('unavailable', message, { hint, cause });
}

function isApiError(error: unknown, codes: readonly number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}
