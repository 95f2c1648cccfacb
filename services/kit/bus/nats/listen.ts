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
 * Subscribes to a pattern and catches errors of the callback, which would otherwise end the client's read loop. A
 * message can cause one: the client decodes headers on the first read and throws on bad ones.
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
        refusals.write(pattern, { err: thrown, pattern }, 'failed to read a message of the bus');
      }
    },
  });
}
