import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import type { Logger } from '../../log.ts';
import { busAccount } from './callout.ts';
import { findIdentity } from './connection-name.ts';
import { listen } from './listen.ts';

const connections = z.object({
  data: z.object({
    now: z.string(),
    total: z.number(),
    connections: z
      .array(z.object({ cid: z.number(), start: z.string(), authorized_user: z.string().optional() }))
      .nullish(),
  }),
});
const routes = z.object({
  data: z.object({ server_id: z.string(), routes: z.array(z.object({ remote_id: z.string() })).nullish() }),
});
const advisory = z.object({
  id: z.string(),
  server: z.object({ id: z.string() }),
  client: z.object({ id: z.number(), user: z.string().default('') }),
});

/** Connections in one list of NATS, and the number of lists requested: a million connections. */
const pageSize = 1024;
const pagesMax = 1000;
const askDeadlineMs = 2000;
/**
 * A second look finds a client that was being admitted while its key was revoked. A failed look is repeated this often.
 */
const nextLookMs = 700;
const looksMax = 20;

/** Connections that are remembered. The oldest is forgotten first. */
const knownMax = 20_000;

/** A connection known from an advisory. */
interface KnownConnection {
  readonly server: string;
  readonly cid: number;
  readonly identity: Identity;
}

/** The list of one server. */
interface ConnectionList {
  readonly server: string;
  /** By the clock of this server. */
  readonly now: number;
  readonly connections: readonly Listing[];
}

interface Listing {
  readonly cid: number;
  readonly startedAt: number;
  readonly identity: Identity;
}

interface Look {
  readonly isMeant: (identity: Identity) => boolean;
  /** Ends connections that began before this time of NATS; null: all. */
  readonly before: number | null;
  readonly looksLeft: number;
}

/** The system account of NATS, used by the backend alone: reports and ends connections. */
export class SystemAccount {
  readonly #connection: NatsConnection;
  readonly #logger: Logger;
  readonly #looks = new Set<NodeJS.Timeout>();
  /** By server and number. The servers' lists are authoritative: an advisory may be lost. */
  readonly #known = new Map<string, KnownConnection>();

  constructor(connection: NatsConnection, logger: Logger) {
    this.#connection = connection;
    this.#logger = logger;
    this.#onAdvisory('CONNECT', (known) => this.#remember(known));
    this.#onAdvisory('DISCONNECT', (known) => this.#known.delete(keyOf(known)));
  }

  /** Reports each admitted connection. */
  onConnected(listener: (identity: Identity) => void): void {
    this.#onAdvisory('CONNECT', ({ identity }) => listener(identity));
  }

  /**
   * Reports each end of a connection to every backend, with an id: one of several backends may itself have just ended.
   */
  onGone(listener: (identity: Identity, id: string) => void): void {
    this.#onAdvisory('DISCONNECT', ({ identity }, id) => listener(identity, id));
  }

  /** Called whenever the lost connection of this account has reconnected. */
  async onReturn(listener: () => void): Promise<void> {
    for await (const { type } of this.#connection.status()) if (type === 'reconnect') listener();
  }

  /** Ends the selected connections. Throws when it could not end them all; later looks keep trying. */
  async end(isMeant: (identity: Identity) => boolean): Promise<void> {
    let before: number | null = null;
    try {
      // Known connections end at once, because a flooded server takes its time to list them.
      const known = [...this.#known.values()].filter(({ identity }) => isMeant(identity));
      await Promise.allSettled(known.map(({ server, cid }) => this.#kick(server, cid)));
      before = await this.#endAll(isMeant, null);
    } finally {
      this.#lookLater({ isMeant, before, looksLeft: looksMax });
    }
  }

  /** The identity of each connection. Throws `unavailable` when a server does not answer. */
  async list(): Promise<readonly Identity[]> {
    const identities: Identity[] = [];
    await this.#eachServer(async ({ connections }) => {
      for (const { identity } of connections) identities.push(identity);
    });
    return identities;
  }

  async close(): Promise<void> {
    for (const look of this.#looks) clearTimeout(look);
    await this.#connection.close();
  }

  #remember(known: KnownConnection): void {
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= knownMax) this.#known.delete(oldest);
    this.#known.set(keyOf(known), known);
  }

  async #kick(server: string, cid: number): Promise<void> {
    await this.#ask(`${server}.KICK`, { cid });
  }

  #onAdvisory(event: 'CONNECT' | 'DISCONNECT', listener: (known: KnownConnection, id: string) => void): void {
    listen({
      connection: this.#connection,
      pattern: `$SYS.ACCOUNT.${busAccount}.${event}`,
      hear: (message) => {
        const read = advisory.safeParse(message.json());
        const identity = read.success ? findIdentity(read.data.client.user) : null;
        if (!read.success || identity === null) return;
        const { id, server, client } = read.data;
        listener({ server: server.id, cid: client.id, identity }, id);
      },
      logger: this.#logger,
    });
  }

  #lookLater(look: Look): void {
    const timer = setTimeout(() => {
      this.#looks.delete(timer);
      void this.#look(look);
    }, nextLookMs);
    this.#looks.add(timer);
    timer.unref();
  }

  async #look({ isMeant, before, looksLeft }: Look): Promise<void> {
    try {
      const now = await this.#endAll(isMeant, before);
      if (before === null) this.#lookLater({ isMeant, before: now, looksLeft });
    } catch (thrown) {
      if (this.#connection.isClosed()) return;
      if (looksLeft > 1) this.#lookLater({ isMeant, before, looksLeft: looksLeft - 1 });
      else this.#logger.error({ err: thrown }, 'gave up ending connections');
    }
  }

  /** Returns the current time of NATS. */
  async #endAll(isMeant: (identity: Identity) => boolean, before: number | null): Promise<number> {
    let latest = 0;
    await this.#eachServer(async ({ server, now, connections }) => {
      latest = Math.max(latest, now);
      const meant = connections.filter(
        ({ identity, startedAt }) => isMeant(identity) && (before === null || startedAt <= before),
      );
      await Promise.all(meant.map(({ cid }) => this.#kick(server, cid)));
    });
    return latest;
  }

  /** A server that does not answer does not keep the others from being read. */
  async #eachServer(take: (listed: ConnectionList) => Promise<void>): Promise<void> {
    const servers = await this.#servers();
    const read = servers.map(async (server) => take(await this.#read(server)));
    for (const outcome of await Promise.allSettled(read)) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** All connections to the bus at one server. */
  async #read(server: string): Promise<ConnectionList> {
    const all: Listing[] = [];
    let now = 0;
    for (let offset = 0, more = true; more && offset < pageSize * pagesMax; offset += pageSize) {
      const options = { auth: true, acc: busAccount, limit: pageSize, offset };
      const { data } = connections.parse((await this.#ask(`${server}.CONNZ`, options)).json());
      more = data.total > offset + pageSize;
      now = Date.parse(data.now);
      for (const { cid, start, authorized_user: name = '' } of data.connections ?? []) {
        const identity = findIdentity(name);
        if (identity !== null) all.push({ cid, startedAt: Date.parse(start), identity });
      }
    }
    return { server, now, connections: all };
  }

  /** The ids of this connection's server and of those it has a route to. */
  async #servers(): Promise<readonly string[]> {
    const answer = await this.#ask(`${this.#connection.info?.server_id}.ROUTEZ`, {});
    const { data } = routes.parse(answer.json());
    // Servers have several routes to each other.
    return [...new Set([data.server_id, ...(data.routes ?? []).map(({ remote_id: id }) => id)])];
  }

  /** Throws `unavailable` when no answer comes. NATS ignores a request without a reply subject. */
  async #ask(what: string, options: object): Promise<Msg> {
    try {
      const timeout = { timeout: askDeadlineMs };
      return await this.#connection.request(`$SYS.REQ.SERVER.${what}`, JSON.stringify(options), timeout);
    } catch (cause) {
      const message = 'The bus did not list or end connections in time.';
      throw new SvcError('unavailable', message, { hint: 'Check the bus, then try again: svc status', cause });
    }
  }
}

function keyOf({ server, cid }: KnownConnection): string {
  return `${server}.${cid}`;
}
