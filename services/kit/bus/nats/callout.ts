import type { KeyPair } from '@nats-io/nkeys';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { Logger } from '../../log.ts';
import { withBugReported } from '../../report-bug.ts';
import type { Authorizer, Subscription } from '../bus.ts';
import { withinDeadline } from '../deadline.ts';
import { grantsOf, whoAmI } from './grants.ts';
import { nameOf, nameOfRefused } from './known-as.ts';
import { provesBackend, type ReadLogin, readLogin } from './login.ts';
import { type Applicant, admit, readApplicant, refuse } from './user-token.ts';

/** Account of NATS that is the bus; the other two are of the callout and of the system. */
export const busAccount = 'SVC';
const authorizationSubject = '$SYS.REQ.USER.AUTH';
/** NATS waits for 2 s (templates/nats.conf). Checking a credential is one look-up in the graph. */
const authorizeDeadlineMs = 1500;
/** Whoever asks why it was refused has this long to read it. */
const refusedLifetimeSeconds = 10;
/** Connections being decided on at once; whoever comes then comes again. */
const decidingMax = 1000;

/** Decides who may connect to NATS (auth callout): the backend's own account there. Several backends share the work. */
export class Callout {
  readonly #connection: NatsConnection;
  readonly #issuer: KeyPair;
  readonly #logger: Logger;
  #authorizer = Promise.withResolvers<Authorizer>();
  #deciding = 0;

  constructor(connection: NatsConnection, issuer: KeyPair, logger: Logger) {
    this.#connection = connection;
    this.#issuer = issuer;
    this.#logger = logger;
    connection.subscribe(authorizationSubject, {
      queue: 'backend',
      callback: (error, message) => {
        if (error === null) void this.#answer(message);
      },
    });
  }

  /** Until somebody decides, and again when nobody does any more, those who come wait as long as they may. */
  authorize(authorizer: Authorizer): Subscription {
    this.#authorizer.resolve(authorizer);
    const present = Promise.withResolvers<Authorizer>();
    present.resolve(authorizer);
    this.#authorizer = present;
    return {
      stop: async () => {
        if (this.#authorizer === present) this.#authorizer = Promise.withResolvers();
      },
    };
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #answer(message: Msg): Promise<void> {
    if (this.#deciding >= decidingMax) return;
    this.#deciding++;
    try {
      message.respond(await this.#decide(readApplicant(message.string())));
    } catch (thrown) {
      withBugReported(thrown, this.#logger);
    } finally {
      this.#deciding--;
    }
  }

  async #decide(applicant: Applicant): Promise<string> {
    const login = readLogin(applicant);
    if (login === null) return refuse(this.#issuer, applicant, 'The client is none of the platform.');
    try {
      const identity = await this.#identify(login);
      return this.#admit(applicant, nameOf(identity), grantsOf(identity, login.inbox));
    } catch (thrown) {
      const error = withBugReported(thrown, this.#logger);
      if (login.asksWhy) return this.#tellWhy(applicant, login, error);
      this.#logger.warn({ err: error, process: login.process }, 'refused a connection to the bus');
      return refuse(this.#issuer, applicant, error.code);
    }
  }

  async #identify(login: ReadLogin): Promise<Identity> {
    const { credentials, process } = login;
    if (credentials === null) {
      if (provesBackend(this.#issuer, login)) return { kind: 'backend', process };
      throw new SvcError('unauthenticated', 'Only who holds the seed that issues admissions is a backend.');
    }
    const decided = this.#authorizer.promise.then((authorizer) => authorizer(credentials, process));
    return await withinDeadline(decided, authorizeDeadlineMs, lateAnswer);
  }

  #admit(applicant: Applicant, name: string, grants: ReturnType<typeof grantsOf>): string {
    return admit(this.#issuer, { applicant, account: busAccount, name, grants });
  }

  /** NATS itself tells a client only that it is refused. So whoever asks comes in for a moment, to read why and do nothing else. */
  #tellWhy(applicant: Applicant, { inbox }: ReadLogin, error: SvcError): string {
    return admit(this.#issuer, {
      ...{ applicant, account: busAccount, name: nameOfRefused(error), lifetimeSeconds: refusedLifetimeSeconds },
      grants: { publish: [whoAmI], subscribe: [`${inbox}.>`] },
    });
  }
}

function lateAnswer(): SvcError {
  return new SvcError('unavailable', 'The backend did not check the credential in time.', {
    hint: 'Is the backend up? svc status',
  });
}
