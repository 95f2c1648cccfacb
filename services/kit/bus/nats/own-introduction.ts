import type { NatsConnection } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import { withinDeadline } from '../deadline.ts';
import { introductionSubject } from './subjects.ts';

/** The backend introduces a client for four seconds, and again after a reconnect. */
const introducedWithinMs = 5000;

/** Receives from the backend, after each connect, the identity of this connection or the reason of its refusal. */
export class OwnIntroduction {
  #heard = Promise.withResolvers<string | null>();

  constructor(connection: NatsConnection, inbox: string) {
    connection.subscribe(introductionSubject(inbox), {
      callback: (error, message) => {
        if (error === null) this.#heard.resolve(message.string());
      },
    });
  }

  /**
   * The name of this connection; null when the connection is lost first. Throws `unavailable` when no backend answers
   * in time.
   */
  name(): Promise<string | null> {
    return withinDeadline(this.#heard.promise, introducedWithinMs, notIntroduced);
  }

  /** The connection is lost: a new introduction will come. */
  forget(): void {
    this.#heard.resolve(null);
    this.#heard = Promise.withResolvers();
  }
}

function notIntroduced(): SvcError {
  return new SvcError('unavailable', "The backend did not confirm this connection's identity in time.", {
    hint: 'Check that the backend runs in this version: svc status',
  });
}
