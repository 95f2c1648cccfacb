import { createSecretKey, randomBytes } from 'node:crypto';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { ProcessId, RuntimeId } from '../../../contracts/ids.ts';
import type { Logger } from '../../log.ts';
import { withBugReported } from '../../report-bug.ts';
import type { Bus, Credentials, Hub, MeantConnections } from '../bus.ts';
import { withinDeadline } from '../deadline.ts';
import { InFlight } from '../in-flight.ts';
import { isMeant } from '../meant.ts';
import { nameProcess } from '../name-process.ts';
import { Penalties } from '../penalties.ts';
import { refusedMs, Senders } from '../senders.ts';
import { Turns } from '../turns.ts';
import { Watchers } from '../watchers.ts';
import { Connection, type ConnectionNeeds, type OwnAuthorizer } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { Routes } from './routes.ts';
import type { Storage } from './storage.ts';

/** Checking a credential is one look-up in the graph. */
const authorizeDeadlineMs = 10_000;
/** First delay before an ended connection reconnects. It doubles with each try, up to the maximum. */
const returnFirstMs = 100;
const returnMaxMs = 10_000;

/** The proof that a client shows when it connects and again when it reconnects. */
interface ClientProof {
  readonly credentials: Credentials;
  readonly nonce: ProcessId;
}

/** The bus of one process: its routes, storage and connections. */
export class InprocHub implements Hub {
  readonly #connections = new Map<Connection, ClientProof>();
  readonly #processKey = createSecretKey(randomBytes(32));
  readonly #authorizers = new Set<OwnAuthorizer>();
  readonly #returning = new Set<NodeJS.Timeout>();
  readonly #penalties = new Penalties();
  readonly #storage: Storage;
  readonly #logger: Logger;
  readonly #inside: ConnectionNeeds;
  #stopped = false;

  constructor(storage: Storage, logger: Logger) {
    this.#storage = storage;
    this.#logger = logger;
    const turns = new Turns();
    this.#inside = {
      turns,
      inFlight: new InFlight<Exchange>(),
      routes: new Routes(),
      logger,
      storage,
      senders: new Senders({
        logger,
        close: ({ runtime }) => this.#endRuntime(runtime, { refusedMs }),
      }),
      authorizers: this.#authorizers,
      goneWatchers: new Watchers<Identity>(turns, logger),
      endRuntime: (runtime, meant) => this.#endRuntime(runtime, meant),
      gone: (connection, wasConnected) => this.#gone(connection, wasConnected),
    };
  }

  async connect(credentials: Credentials, nonce: ProcessId): Promise<Bus> {
    const shown = { credentials, nonce };
    const identity = await this.#identify(shown);
    if (this.#stopped) throw stopped();
    const connection = new Connection(Object.freeze({ ...identity }), this.#inside);
    this.#connections.set(connection, shown);
    return connection;
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const timer of this.#returning) clearTimeout(timer);
    for (const connection of [...this.#connections.keys()]) connection.end('closed');
    await this.#storage.close();
  }

  async #identify({ credentials, nonce }: ClientProof): Promise<Identity> {
    if (this.#stopped) throw stopped();
    if (credentials.kind === 'backend') return { kind: 'backend', process: nonce };
    const [next] = this.#authorizers;
    if (next === undefined) {
      throw new SvcError('unavailable', 'No backend is connected to the bus that could check the credential.', {
        hint: 'Start the backend, then try again.',
      });
    }
    // Backends take turns: the one just used goes to the end of the queue.
    this.#authorizers.delete(next);
    this.#authorizers.add(next);
    const process = nameProcess(this.#processKey, credentials, nonce);
    try {
      const identity = await withinDeadline(next.authorizer(credentials, process), authorizeDeadlineMs, lateAnswer);
      this.#penalties.check(identity);
      return identity;
    } catch (thrown) {
      throw withBugReported(thrown, this.#logger);
    }
  }

  #endRuntime(runtime: RuntimeId, meant: MeantConnections): void {
    const { refusedMs } = meant;
    if (refusedMs !== undefined) this.#penalties.add({ runtime, refusedMs });
    for (const connection of [...this.#connections.keys()]) {
      if (connection.state === 'lost' || !isMeant(connection.identity, runtime, meant)) continue;
      connection.end('lost');
      this.#letReturn(connection, returnFirstMs);
    }
  }

  /** Reconnects an ended connection with its credential, as a client of a remote bus would. */
  #letReturn(connection: Connection, waitMs: number): void {
    const timer = setTimeout(async () => {
      this.#returning.delete(timer);
      const shown = this.#connections.get(connection);
      if (shown === undefined) return;
      try {
        const identity = await this.#identify(shown);
        if (connection.state !== 'lost') return;
        if (!sameIdentity(identity, connection.identity))
          throw new SvcError('forbidden', 'The credential now belongs to another identity.');
        connection.resume();
      } catch (thrown) {
        this.#logger.warn({ err: thrown, identity: connection.identity }, 'refused a reconnecting client');
        if (connection.state === 'lost' && !this.#stopped)
          this.#letReturn(connection, Math.min(waitMs * 2, returnMaxMs));
      }
    }, waitMs);
    this.#returning.add(timer);
    timer.unref();
  }

  #gone(connection: Connection, wasConnected: boolean): void {
    if (connection.state === 'closed') this.#connections.delete(connection);
    if (wasConnected) this.#inside.goneWatchers.tell(connection.identity);
  }
}

function stopped(): SvcError {
  return new SvcError('unavailable', 'The bus has stopped.');
}

function lateAnswer(): SvcError {
  return new SvcError('unavailable', 'The backend did not check the credential in time.');
}

function sameIdentity(one: Identity, other: Identity): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
