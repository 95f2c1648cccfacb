import { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../log.ts';
import { withinDeadline } from './deadline.ts';

/** What a consumer is handed at once. */
export const batchMaxRecords = 256;
export const batchMaxBytes = 1024 * 1024;
/** A batch that failed, or a consumer that broke off, is tried again after this long, then after twice as long, up to the maximum. */
export const retryFirstMs = 100;
export const retryMaxMs = 10_000;
/** A handler that takes longer has failed. */
const handleDeadlineMs = 60_000;

export type BatchHandler = (batch: readonly Uint8Array[]) => Promise<void>;

export interface BatchAtHand {
  /** Of the consumer, as its log knows it. */
  readonly name: string;
  readonly records: readonly Uint8Array[];
  readonly logger: Logger;
  /** Notes that it has been handled. */
  readonly done: () => Promise<unknown>;
}

/** False where the batch has to come again. */
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
    logger.warn({ consumer: name, err: thrown }, 'failed to handle a batch, which will come again');
    return false;
  }
}
