import { JetStreamApiError, JetStreamError, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import { SvcError } from '../../../contracts/errors.ts';

/** Names an unchanged stream as NATS does when asked to make another of that name. */
const nameInUse = 10058;
const streamNotFound = 10059;
const wrongLastSequence = [10071, 10164];

export type KeptStream = Partial<StreamConfig> & { name: string };

/** Makes the stream, or makes it as it should be where there is one already. What it holds stays. */
export async function ensureStream(manager: JetStreamManager, config: KeptStream) {
  try {
    await manager.streams.add(config);
  } catch (error) {
    if (!isApiError(error, [nameInUse])) throw storageError(error);
    // How it is kept can't be changed of what is there.
    const { storage: _, ...changeable } = config;
    await manager.streams.update(config.name, changeable).catch((thrown: unknown) => {
      throw storageError(thrown);
    });
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
