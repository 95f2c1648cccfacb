import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { BoundedLog } from '../../bounded-log.ts';
import type { Logger } from '../../log.ts';

export interface Listening {
  readonly connection: NatsConnection;
  readonly pattern: string;
  readonly hear: (message: Msg) => void;
  readonly queue?: string;
  readonly logger: Logger;
}

/**
 * Subscribes to a pattern. An error in a callback would end the loop in which the client reads its connection, and a message can cause one:
 * the client decodes headers when they are first read, and throws where it cannot.
 */
export function listen({ connection, pattern, hear, queue, logger }: Listening): Subscription {
  const refusals = new BoundedLog(logger);
  return connection.subscribe(pattern, {
    ...(queue === undefined ? {} : { queue }),
    callback: (error, message) => {
      if (error !== null) {
        logger.error({ err: error, pattern }, 'lost a subscription');
        return;
      }
      try {
        hear(message);
      } catch (thrown) {
        refusals.write(pattern, { err: thrown, pattern }, 'could not take a message of the bus');
      }
    },
  });
}
