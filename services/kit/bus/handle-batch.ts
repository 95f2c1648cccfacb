import { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../log.ts';
import { withinDeadline } from './deadline.ts';

/** Largest batch of a consumer. */
export const batchMaxRecords = 256;
export const batchMaxBytes = 1024 * 1024;
/** First delay before a failed batch or a broken consumer is retried. It doubles with each retry, up to the maximum. */
export const retryFirstMs = 100;
export const retryMaxMs = 10_000;
/** A handler that takes longer counts as failed. */
const handleDeadlineMs = 60_000;

export type BatchHandler = (batch: readonly Uint8Array[]) => Promise<void>;

export interface BatchAtHand {
  /** The consumer's name in the log. */
  readonly name: string;
  readonly records: readonly Uint8Array[];
  readonly logger: Logger;
  /** Records that the batch has been handled. */
  readonly done: () => Promise<unknown>;
}

/** False when the batch must be delivered again. */
export async function handleBatch(
  handle: BatchHandler,
  { name, records, logger, done }: BatchAtHand,
): Promise<boolean> {
  try {
    await withinDeadline(
      handle(records),
      handleDeadlineMs,
      () => new SvcError('timeout', `A batch of "${name}" was not handled in ${handleDeadlineMs} ms.`),
    );
    await done();
    return true;
  } catch (thrown) {
    logger.warn({ consumer: name, err: thrown }, 'failed to handle a batch, which will be delivered again');
    return false;
  }
}
