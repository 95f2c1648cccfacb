import { z } from 'zod';
import { subjects } from '../../contracts/bus/subjects.ts';
import { findSessionId, type SessionId } from '../../contracts/ids.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import type { BusLink } from '../bus/bus-link.ts';

/** What the remote-mcps tell each other about a session, on `svc.session.<session>`. */
const sessionMessage = z.discriminatedUnion('kind', [
  /** Its record was written: whoever holds a copy reads it again. */
  z.object({ kind: z.literal('changed') }),
  z.object({ kind: z.literal('ended') }),
  /** A stream of it was opened then: older ones elsewhere say nothing while that one is open. */
  z.object({ kind: z.literal('listening'), since: z.number() }),
  /** That stream is closed. */
  z.object({ kind: z.literal('silent') }),
  /** The agent cancels one of its requests: whoever has it under way ends it. */
  z.object({ kind: z.literal('cancel'), request: z.union([z.string(), z.number()]) }),
]);
export type SessionMessage = z.infer<typeof sessionMessage>;

/** Who sent it: everybody hears all messages, and one's own are no news. */
const senderHeader = 'svc-from';

export class SessionMessages {
  readonly #link: BusLink;
  readonly #log: Logger;

  constructor(link: BusLink, log: Logger) {
    this.#link = link;
    this.#log = log;
  }

  /** Tells the others. A message that is lost delays: whoever holds a copy compares it with the record when it renews it. */
  tell(session: SessionId, message: SessionMessage): void {
    const { present } = this.#link;
    if (present === null) return;
    const { bus } = present;
    try {
      bus.publish(subjects.session(session), Buffer.from(JSON.stringify(message)), {
        [senderHeader]: bus.identity.process,
      });
    } catch (thrown) {
      this.#log.debug({ err: thrown, session }, 'failed to tell others about a session');
    }
  }

  listen(bus: Bus, hear: (session: SessionId, message: SessionMessage) => void): void {
    bus.subscribe('svc.session.*', ({ subject, payload, headers }) => {
      if (headers[senderHeader] === bus.identity.process) return;
      const session = findSessionId(subject.split('.')[2] ?? '');
      const message = sessionMessage.safeParse(parse(payload));
      if (session !== null && message.success) hear(session, message.data);
    });
  }
}

function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload).toString());
  } catch {
    return null;
  }
}
