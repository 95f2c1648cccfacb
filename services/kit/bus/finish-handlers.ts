import type { Identity } from '../../contracts/bus/permissions.ts';
import { SvcError } from '../../contracts/errors.ts';
import type { Logger } from '../log.ts';
import type { Subscription } from './bus.ts';
import { withinDeadline } from './deadline.ts';
import { Subscriber } from './subscriber.ts';
import type { Subscriptions } from './subscriptions.ts';

/** How long a closing connection waits for a message handler that is still running. */
const finishDeadlineMs = 10_000;

export interface Closing {
  readonly identity: Identity;
  readonly consumers: Subscriptions;
  readonly listeners: Iterable<Subscription>;
  readonly logger: Logger;
}

/** Stops the subscriptions of a closing connection and waits for the handlers that have no other deadline. */
export async function finishHandlers({ identity, consumers, listeners, logger }: Closing): Promise<void> {
  const handlers = [consumers.stop()];
  for (const listener of listeners) {
    const stopped = listener.stop();
    // Requests have separate deadlines; handlers of messages have none.
    if (listener instanceof Subscriber) handlers.push(stopped);
  }
  await withinDeadline(Promise.all(handlers), finishDeadlineMs, stillBusy).catch((late: SvcError) =>
    logger.warn({ err: late, identity }, 'closed a connection whose handlers were busy'),
  );
}

function stillBusy(): SvcError {
  return new SvcError('timeout', `A handler did not finish within ${finishDeadlineMs} ms.`);
}
