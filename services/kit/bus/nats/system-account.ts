import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import type { RuntimeId } from '../../../contracts/ids.ts';
import type { Logger } from '../../log.ts';
import { busAccount } from './callout.ts';
import type { CountByRuntime } from './connection-counts.ts';
import { findIdentity } from './known-as.ts';
import { listen } from './listen.ts';

const connections = z.object({
  data: z.object({
    server_id: z.string(),
    now: z.string(),
    total: z.number(),
    offset: z.number(),
    connections: z
      .array(z.object({ cid: z.number(), start: z.string(), authorized_user: z.string().optional() }))
      .nullish(),
  }),
});
type Page = z.infer<typeof connections>['data'];
const disconnected = z.object({ id: z.string(), client: z.object({ user: z.string().default('') }) });

/** Connections that NATS lists at a time, and how many lists are asked for: a million connections. */
const pageSize = 1024;
const pagesMax = 1000;
const askDeadlineMs = 2000;
/** After the first answer, others are waited for this long: one comes from each server of a cluster. */
const othersMs = 200;
/** Whoever was being let in while its key was revoked is found by a later look. */
const secondLookMs = 700;

/** The system account of NATS: who has gone, and who must go. The backend's alone. */
export class SystemAccount {
  readonly #connection: NatsConnection;
  readonly #logger: Logger;
  readonly #looks = new Set<NodeJS.Timeout>();

  constructor(connection: NatsConnection, logger: Logger) {
    this.#connection = connection;
    this.#logger = logger;
  }

  /** Each end of a connection, by its own id, is told to every backend: one of several may be what has just ended. */
  onGone(listener: (identity: Identity, id: string) => void): void {
    listen({
      connection: this.#connection,
      pattern: `$SYS.ACCOUNT.${busAccount}.DISCONNECT`,
      hear: (message) => {
        const advisory = disconnected.safeParse(message.json());
        const identity = advisory.success ? findIdentity(advisory.data.client.user) : null;
        if (advisory.success && identity !== null) listener(identity, advisory.data.id);
      },
      logger: this.#logger,
    });
  }

  /** Ends every connection there is of those that are meant. */
  async end(isMeant: (identity: Identity) => boolean): Promise<void> {
    const at = await this.#endBefore(null, isMeant);
    const look = setTimeout(() => {
      this.#looks.delete(look);
      this.#endBefore(at, isMeant).catch((error: unknown) =>
        this.#logger.warn({ err: error }, 'could not look a second time for connections to end'),
      );
    }, secondLookMs);
    this.#looks.add(look);
    look.unref();
  }

  /** Connections of each runtime. */
  async count(): Promise<CountByRuntime> {
    const counts = new Map<RuntimeId, number>();
    for await (const { connections } of this.#list()) {
      for (const { authorized_user: name = '' } of connections ?? []) {
        const identity = findIdentity(name);
        if (identity?.kind === 'runtime') counts.set(identity.runtime, (counts.get(identity.runtime) ?? 0) + 1);
      }
    }
    return counts;
  }

  async close(): Promise<void> {
    for (const look of this.#looks) clearTimeout(look);
    await this.#connection.close();
  }

  /** Those that began before the time given, by the clock of NATS. Returns its present time. */
  async #endBefore(before: number | null, isMeant: (identity: Identity) => boolean): Promise<number> {
    const ended: Promise<unknown>[] = [];
    let now = 0;
    for await (const page of this.#list()) {
      now = Math.max(now, Date.parse(page.now));
      for (const { cid, start, authorized_user: name = '' } of page.connections ?? []) {
        const identity = findIdentity(name);
        if (identity === null || !isMeant(identity)) continue;
        if (before !== null && Date.parse(start) > before) continue;
        ended.push(this.#kick(page.server_id, cid));
      }
    }
    await Promise.all(ended);
    return now;
  }

  /** All connections to the bus, in pages from each server. */
  async *#list(): AsyncGenerator<Page> {
    for (let offset = 0, more = true; more && offset < pageSize * pagesMax; offset += pageSize) {
      more = false;
      const options = { auth: true, acc: busAccount, limit: pageSize, offset };
      for await (const answer of await this.#ask('PING.CONNZ', options)) {
        const { data } = connections.parse(answer.json());
        more ||= data.total > offset + pageSize;
        yield data;
      }
    }
  }

  /** NATS does nothing for who wants no answer. */
  async #kick(serverId: string, cid: number): Promise<void> {
    const subject = `$SYS.REQ.SERVER.${serverId}.KICK`;
    await this.#connection.request(subject, JSON.stringify({ cid }), { timeout: askDeadlineMs });
  }

  #ask(what: string, options: object) {
    return this.#connection.requestMany(`$SYS.REQ.SERVER.${what}`, JSON.stringify(options), {
      ...{ strategy: 'stall', stall: othersMs, maxWait: askDeadlineMs },
    });
  }
}
