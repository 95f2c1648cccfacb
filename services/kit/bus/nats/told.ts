import type { NatsConnection } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import { withinDeadline } from '../deadline.ts';
import { toldSubject } from './subjects.ts';

/** The backend tells it for four seconds, and anew where the connection is lost and comes back meanwhile. */
const toldWithinMs = 5000;

/** Hears from the backend who this connection is, or why it is refused, each time it was let in. */
export class Told {
  #heard = Promise.withResolvers<string | null>();

  constructor(connection: NatsConnection, inbox: string) {
    connection.subscribe(toldSubject(inbox), {
      callback: (error, message) => {
        if (error === null) this.#heard.resolve(message.string());
      },
    });
  }

  /** The name of this connection; null where the connection is lost first. Throws `unavailable` where no backend says it in time. */
  name(): Promise<string | null> {
    return withinDeadline(this.#heard.promise, toldWithinMs, notTold);
  }

  /** The connection is lost: it will be told anew. */
  forget(): void {
    this.#heard.resolve(null);
    this.#heard = Promise.withResolvers();
  }
}

function notTold(): SvcError {
  return new SvcError('unavailable', "The backend did not confirm this connection's identity in time.", {
    hint: 'Check that the backend runs and has this version: svc status',
  });
}
