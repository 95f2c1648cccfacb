import { z } from 'zod';
import { subjects } from '../../contracts/bus/subjects.ts';
import { findSessionId, type SessionId } from '../../contracts/ids.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import type { BusLink } from '../bus/bus-link.ts';

/** Messages about a session between remote-mcps, on `svc.session.<session>`. */
const sessionMessage = z.discriminatedUnion('kind', [
  /** The record was written: holders of a copy read it again. */
  z.object({ kind: z.literal('changed') }),
  z.object({ kind: z.literal('ended') }),
  /** A stream was opened at that time: older streams elsewhere stay silent while it is open. */
  z.object({ kind: z.literal('listening'), since: z.number() }),
  /** That stream is closed. */
  z.object({ kind: z.literal('silent') }),
  /** The agent cancels a request: the remote-mcp with that request in progress ends it. */
  z.object({ kind: z.literal('cancel'), request: z.union([z.string(), z.number()]) }),
]);
export type SessionMessage = z.infer<typeof sessionMessage>;

/** The sender. Each remote-mcp hears all messages and ignores its own. */
const senderHeader = 'svc-from';

export class SessionMessages {
  readonly #link: BusLink;
  readonly #log: Logger;

  constructor(link: BusLink, log: Logger) {
    this.#link = link;
    this.#log = log;
  }

  /** Sends to the other remote-mcps. A lost message only delays: a copy is compared with the record at its renewal. */
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
