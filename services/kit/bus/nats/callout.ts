import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { withoutKeys } from '../../../contracts/keys.ts';
import { BoundedLog } from '../../bounded-log.ts';
import { Budget, type Owner } from '../../budget.ts';
import type { Logger } from '../../log.ts';
import { networkOf } from '../../network-of.ts';
import { withBugReported } from '../../report-bug.ts';
import type { Authorizer, Subscription } from '../bus.ts';
import { withinDeadline } from '../deadline.ts';
import { nameProcess } from '../name-process.ts';
import { Penalties } from '../penalties.ts';
import { ConnectionCounts } from './connection-counts.ts';
import { nameOf, nameOfRefused } from './connection-name.ts';
import { grantsOf, whoAmISubject, whoIsSubject } from './grants.ts';
import { Introductions } from './introductions.ts';
import type { Issuer } from './issuer.ts';
import { listen } from './listen.ts';
import { provesBackend, type ReadLogin, readLogin } from './login.ts';
import { type Applicant, admit, readApplicant, refuse } from './user-token.ts';

/** The NATS account of the bus; the other two accounts are for the callout and the system. */
export const busAccount = 'SVC';
export const authorizationSubject = '$SYS.REQ.USER.AUTH';
/** Subject on which a backend passes on authorization requests that it cannot decide. */
const handOnSubject = 'svc.authorization';
/** NATS waits for 2 s (templates/nats.conf). Checking a credential is one look-up in the graph. */
const authorizeDeadlineMs = 1500;
/** How long a refused client may stay connected to read the reason. */
const refusedLifetimeSeconds = 5;
/**
 * Refused clients that may be connected at once to read the reason. Unproven ones have a limit in total and for each
 * network, proven runtimes in total and for each workspace. Others get no reason.
 */
const strangersMax = 32;
const strangersOfNetworkMax = 16;
const provenMax = 32;
const provenOfWorkspaceMax = 8;
/** Concurrent decisions. NATS refuses further connections, whose clients retry. */
const decidingMax = 1000;

/**
 * Decides which clients may connect to NATS (auth callout). Several backends share the work; a backend that is starting
 * or stopping can admit only itself, and passes other requests on.
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

  /** Called before a client is admitted. Requests on an earlier connection of the client are lost. */
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
      if (login === null)
        message.respond(refuse(this.#issuer, applicant, 'The client does not belong to the platform.'));
      else if (login.credentials === null) message.respond(this.#decideOnBackend(applicant, login));
      else if (this.#authorizer !== null) {
        const process = nameProcess(this.#issuer.processKey, login.credentials, login.nonce);
        const identity = this.#authorizer(login.credentials, process);
        message.respond(await this.#decide(applicant, login, identity));
      } else {
        // When no backend can decide, NATS refuses the client, which then retries.
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
    if (!provesBackend(this.#issuer, login))
      return refuse(this.#issuer, applicant, 'The client did not prove that it is a backend.');
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

  /** Whether a refused client may connect to read the reason. Unproven clients take no place of a proven one. */
  #takePlace({ host }: Applicant, proven: Identity | null): boolean {
    return proven === null
      ? holdForAWhile(this.#strangersInside, { network: networkOf(host) })
      : holdForAWhile(this.#provenInside, { workspace: workspaceOf(proven) });
  }

  #admit(applicant: Applicant, identity: Identity, login: ReadLogin): string {
    this.#admitted(identity);
    const name = nameOf(identity);
    // A backend already knows its identity.
    if (identity.kind !== 'backend' || login.asks) this.introductions.add(login.inbox, name, login.asks);
    const grants = grantsOf(identity, login);
    return admit(this.#issuer, { applicant, account: busAccount, name, grants });
  }

  /**
   * NATS itself gives no reason for a refusal. So a client that asks is admitted for a moment, to read the reason and
   * nothing else.
   */
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

/** The sender in the log. A process can change its id, and an unproven client its name, at will. */
function senderOf(proven: Identity | null): string {
  if (proven === null) return 'stranger';
  return proven.kind === 'runtime' ? proven.runtime : proven.kind;
}

function notMapped(): SvcError {
  return new SvcError(
    'unsupported',
    'refused a client of the previous version: the bus does not map the subject by which it asks for its identity',
    {
      hint: `Update the runtime, or add to the account in the configuration of NATS: mappings { "${whoAmISubject}": "${whoIsSubject}" }`,
    },
  );
}

function lateAnswer(): SvcError {
  return new SvcError('unavailable', 'The backend did not check the credential in time.', {
    hint: 'Check that the backend runs: svc status',
  });
}
