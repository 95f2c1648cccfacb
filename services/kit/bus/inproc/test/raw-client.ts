import { SvcError } from '../../../../contracts/errors.ts';
import type { Bus } from '../../bus.ts';
import type { RawClient } from '../../contract/raw-client.ts';

/** Inside one process a connection is the only way to the bus. A refused message is dropped. */
export function rawClientOf(bus: Bus): RawClient {
  const ended = new Promise<void>((resolve) => bus.onConnection((state) => state === 'disconnected' && resolve()));
  return {
    say(subject, { kind, payload = new Uint8Array(0), headers = {} }) {
      // Messages in one process have no frames.
      if (kind?.endsWith('+')) return;
      try {
        if (kind === 'question') void bus.request(subject, payload, { headers, timeoutMs: 60_000 }).catch(() => {});
        else bus.publish(subject, payload, headers);
      } catch (thrown) {
        if (!(thrown instanceof SvcError)) throw thrown;
      }
    },
    hear(pattern, handle) {
      bus.respond(pattern, ({ subject, payload, headers }) => {
        handle({ subject, payload, headers, reply: '' });
        return new Promise(() => undefined);
      });
    },
    reached: async () => undefined,
    ended,
  };
}
