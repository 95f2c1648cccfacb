import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { withoutKeys } from '../../../contracts/keys.ts';
import { BoundedLog } from '../../bounded-log.ts';
import { Budget, type Owner } from '../../budget.ts';
import type { Logger } from '../../log.ts';
import { withBugReported } from '../../report-bug.ts';
import type { Authorizer, Subscription } from '../bus.ts';
import { withinDeadline } from '../deadline.ts';
import { nameProcess } from '../name-process.ts';
import { Penalties } from '../penalties.ts';
import { ConnectionCounts } from './connection-counts.ts';
import { grantsOf, whoAmISubject, whoIsSubject } from './grants.ts';
import { Introductions } from './introductions.ts';
import type { Issuer } from './issuer.ts';
import { nameOf, nameOfRefused } from './known-as.ts';
import { listen } from './listen.ts';
import { provesBackend, type ReadLogin, readLogin } from './login.ts';
import { networkOf } from './network-of.ts';
import { type Applicant, admit, readApplicant, refuse } from './user-token.ts';

/** Account of NATS that is the bus; the other two are of the callout and of the system. */
export const busAccount = 'SVC';
export const authorizationSubject = '$SYS.REQ.USER.AUTH';
/** Where backends that can decide hear what those handed on that can't. */
const handOnSubject = 'svc.authorization';
/** NATS waits for 2 s (templates/nats.conf). Checking a credential is one look-up in the graph. */
const authorizeDeadlineMs = 1500;
/** A refused client that asks why has this long to read the reason. */
const refusedLifetimeSeconds = 5;
/** Refused clients that are connected at once to read why: strangers, of one network, proven runtimes, of one workspace. Others get no reason. */
const strangersMax = 32;
const strangersOfNetworkMax = 16;
const provenMax = 32;
const provenOfWorkspaceMax = 8;
/** Connections being decided on at once. NATS refuses any further one, and its client tries again. */
const decidingMax = 1000;

/**
 * Decides who may connect to NATS (auth callout): the backend's own account there. Several backends share the work; one that can vouch for
 * itself only, because it is about to start or to stop, hands the others' requests on to those that can decide.
 */
export class Callout {
  readonly #connection: NatsConnection;
  readonly #issuer: Issuer;
  readonly #logger: Logger;
  readonly penalties = new Penalties();
  readonly introductions = new Introductions();
  readonly connections: ConnectionCounts;
  readonly #refusals: BoundedLog;
  #authorizer: Authorizer | null = null;
  #admitted: (identity: Identity) => void = () => undefined;
  #deciding = 0;
  readonly #strangersInside = new Budget({
    ...{ what: 'refused connections', total: strangersMax, shares: { network: strangersOfNetworkMax } },
    hint: 'Try again in a few seconds.',
  });
  readonly #provenInside = new Budget({
    ...{ what: 'refused connections', total: provenMax, shares: { workspace: provenOfWorkspaceMax } },
    hint: 'Try again in a few seconds.',
  });

  constructor(connection: NatsConnection, issuer: Issuer, logger: Logger) {
    this.#connection = connection;
    this.#issuer = issuer;
    this.#logger = logger;
    this.#refusals = new BoundedLog(logger);
    this.connections = new ConnectionCounts(logger);
    this.#listen(authorizationSubject);
  }

  authorize(authorizer: Authorizer): Subscription {
    this.#authorizer = authorizer;
    const handedOn = this.#listen(handOnSubject);
    return {
      stop: async () => {
        handedOn.unsubscribe();
        if (this.#authorizer === authorizer) this.#authorizer = null;
      },
    };
  }

  /** Called before somebody is let in. What he had under way on a connection before has got lost with it. */
  onAdmission(listener: (identity: Identity) => void): void {
    this.#admitted = listener;
  }

  async close(): Promise<void> {
    this.introductions.close();
    this.connections.close();
    await this.#connection.close();
  }

  #listen(subject: string) {
    const hear = (message: Msg) => void this.#answer(message);
    return listen({ connection: this.#connection, pattern: subject, hear, queue: 'backend', logger: this.#logger });
  }

  async #answer(message: Msg): Promise<void> {
    if (this.#deciding >= decidingMax) return;
    this.#deciding++;
    try {
      const applicant = readApplicant(message.string());
      const login = readLogin(applicant);
      if (login === null) message.respond(refuse(this.#issuer, applicant, 'The client is none of the platform.'));
      else if (login.credentials === null) message.respond(this.#decideOnBackend(applicant, login));
      else if (this.#authorizer !== null) {
        const process = nameProcess(this.#issuer.processKey, login.credentials, login.nonce);
        const identity = this.#authorizer(login.credentials, process);
        message.respond(await this.#decide(applicant, login, identity));
      } else {
        // Where nobody can decide, NATS answers in our place, and the client comes again.
        this.#connection.publish(
          handOnSubject,
          message.data,
          message.reply === undefined ? {} : { reply: message.reply },
        );
      }
    } catch (thrown) {
      withBugReported(thrown, this.#logger);
    } finally {
      this.#deciding--;
    }
  }

  #decideOnBackend(applicant: Applicant, login: ReadLogin): string {
    if (!provesBackend(this.#issuer, login)) return refuse(this.#issuer, applicant, 'This is no backend.');
    const identity = { kind: 'backend', process: login.nonce } as const;
    return this.#admit(applicant, identity, login);
  }

  async #decide(applicant: Applicant, login: ReadLogin, decided: Promise<Identity>): Promise<string> {
    let proven: Identity | null = null;
    try {
      const identity = await withinDeadline(decided, authorizeDeadlineMs, lateAnswer);
      proven = identity;
      this.penalties.check(identity);
      if (login.asks && !this.introductions.answersQuestions) throw notMapped();
      this.connections.admit(identity);
      return this.#admit(applicant, identity, login);
    } catch (thrown) {
      const error = withBugReported(thrown, this.#logger);
      const sender = withoutKeys(login.user.slice(0, 80));
      this.#refusals.write(
        `${error.code} ${senderOf(proven)}`,
        { err: error, sender },
        'refused a connection to the bus',
      );
      const mayAsk = login.asksWhy && this.#takePlace(applicant, proven);
      return mayAsk ? this.#tellWhy(applicant, login, error) : refuse(this.#issuer, applicant, error.code);
    }
  }

  /** Whether a refused client may come in to read why. Strangers take no place of a client that proved itself. */
  #takePlace({ host }: Applicant, proven: Identity | null): boolean {
    return proven === null
      ? holdForAWhile(this.#strangersInside, { network: networkOf(host) })
      : holdForAWhile(this.#provenInside, { workspace: workspaceOf(proven) });
  }

  #admit(applicant: Applicant, identity: Identity, login: ReadLogin): string {
    this.#admitted(identity);
    const name = nameOf(identity);
    // A backend knows who it is.
    if (identity.kind !== 'backend' || login.asks) this.introductions.add(login.inbox, name, login.asks);
    const grants = grantsOf(identity, login);
    return admit(this.#issuer, { applicant, account: busAccount, name, grants });
  }

  /** NATS itself tells a client only that it is refused. So whoever asks comes in for a moment, to read why and do nothing else. */
  #tellWhy(applicant: Applicant, { inbox, asks }: ReadLogin, error: SvcError): string {
    const name = nameOfRefused(error);
    this.introductions.add(inbox, name, asks);
    return admit(this.#issuer, {
      ...{ applicant, account: busAccount, name, lifetimeSeconds: refusedLifetimeSeconds },
      grants: { publish: asks ? [whoIsSubject] : [], subscribe: [`${inbox}.>`] },
    });
  }
}

function holdForAWhile<Kind extends string>(budget: Budget<Kind>, owner: Owner<Kind>): boolean {
  if (!budget.hasRoom(owner, 1)) return false;
  const place = budget.hold(owner, 1);
  setTimeout(() => place.release(), refusedLifetimeSeconds * 1000).unref();
  return true;
}

function workspaceOf(proven: Identity): string {
  return proven.kind === 'runtime' && proven.workspace !== null ? proven.workspace : 'platform';
}

/** For the log. A process gets a new id whenever it likes, and a stranger a new name. */
function senderOf(proven: Identity | null): string {
  if (proven === null) return 'stranger';
  return proven.kind === 'runtime' ? proven.runtime : proven.kind;
}

function notMapped(): SvcError {
  return new SvcError(
    'unsupported',
    'This bus lets in no client of the version before: it does not map the subject by which they ask who they are.',
    {
      hint: `Update the runtime, or add to the account in the configuration of NATS: mappings { "${whoAmISubject}": "${whoIsSubject}" }`,
    },
  );
}

function lateAnswer(): SvcError {
  return new SvcError('unavailable', 'The backend did not check the credential in time.', {
    hint: 'Is the backend up? svc status',
  });
}
