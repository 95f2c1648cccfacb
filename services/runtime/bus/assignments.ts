import { setTimeout as pause } from 'node:timers/promises';
import { type Assigned, type HandshakeRequest, handshakeReply, homesMax } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { type SvcError, toSvcError } from '../../contracts/errors.ts';
import type { McpServerId, RuntimeId } from '../../contracts/ids.ts';
import type { Sandbox } from '../../contracts/sandbox.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import type { Homes } from '../launchers/homes.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { type Backoff, backoffMs } from '../time/backoff.ts';
import type { RuntimeConnection } from './connect.ts';
import type { OwnKey } from './own-key.ts';

export interface AssignmentsOptions {
  readonly connection: RuntimeConnection;
  readonly key: OwnKey;
  readonly supervisor: Supervisor;
  readonly homes: Homes;
  readonly version: string;
  readonly sandbox: Sandbox;
  readonly logger: Logger;
  /** What is assigned is known: for the first time, or again after it was asked for. */
  readonly onFetched: () => void;
  /** The backend does not accept this runtime (any more). */
  readonly onRefused: (refusal: SvcError) => void;
}

/** A lost command is made up for by asking anyway; nothing is sealed where nothing has changed. */
const intervalMs = 15_000;
const answerMaxMs = 10_000;
/** Commands come in swarms, and one handshake answers all of them. The backend refuses a runtime that asks without a pause. */
const pauseMs = 200;
const retry: Backoff = { firstMs: 300, maxMs: 15_000 };

/** Keeps what runs here equal to what the backend assigns to this runtime. */
export class Assignments {
  readonly #options: AssignmentsOptions;
  readonly #stopping = new AbortController();
  #etag: string | undefined;
  #wake = new AbortController();
  #running: Promise<void> = Promise.resolve();
  readonly #removing = new Map<McpServerId, Promise<void>>();
  #lastAsked = '';
  #problem: string | null = 'the backend has not been asked yet';

  constructor(options: AssignmentsOptions) {
    this.#options = options;
  }

  /** Null where the backend has accepted this runtime, else why not. */
  get problem(): string | null {
    return this.#problem;
  }

  /** A runtime that was revoked has no business with anybody's secrets any more. */
  drop(): void {
    this.#etag = undefined;
    this.#options.supervisor.apply([]);
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  /** They may have changed. */
  fetchNow(): void {
    this.#wake.abort();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.abort();
    await this.#running;
    await Promise.all(this.#removing.values());
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      // Whoever wakes it from here on is answered by another round.
      this.#wake = new AbortController();
      failures = (await this.#fetch()) ? 0 : failures + 1;
      await pause(pauseMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      const waitMs = failures === 0 ? intervalMs : backoffMs(retry, failures, Math.random());
      await pause(waitMs, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  async #fetch(): Promise<boolean> {
    const { logger, onFetched, onRefused } = this.#options;
    try {
      await this.#shakeHands(this.#options.connection);
      if (this.#problem !== null) logger.info('was accepted by the backend');
      this.#problem = null;
      onFetched();
      return true;
    } catch (thrown) {
      const error = toSvcError(thrown);
      if (this.#stopping.signal.aborted) return false;
      if (error.message !== this.#problem) logger.warn({ err: error }, 'could not fetch assignments');
      this.#problem = error.message;
      if (isRefusal(error)) {
        this.drop();
        onRefused(error);
      }
      return false;
    }
  }

  async #shakeHands({ bus, runtime, process }: RuntimeConnection): Promise<void> {
    const { key, sandbox, version } = this.#options;
    const homes = await this.#homesToAskAbout(runtime);
    const request: HandshakeRequest = {
      version,
      sandbox,
      confinesMembers: true,
      publicKey: key.publicKey,
      ...(this.#etag === undefined ? {} : { etag: this.#etag }),
      ...(homes.length === 0 ? {} : { homes: [...homes] }),
    };
    const reply = handshakeReply.parse(await this.#ask(bus, subjects.handshake(runtime, process), request));
    if (reply.sealed !== undefined) await this.#apply(runtime, await key.open(reply.sealed));
    this.#etag = reply.etag;
    for (const mcpServer of reply.removed ?? []) if (homes.includes(mcpServer)) this.#removeHome(runtime, mcpServer);
  }

  async #ask(bus: Bus, subject: string, body: unknown): Promise<unknown> {
    const options = { timeoutMs: answerMaxMs, signal: this.#stopping.signal };
    const { payload } = await bus.request(subject, Buffer.from(JSON.stringify(body)), options);
    return JSON.parse(Buffer.from(payload).toString());
  }

  async #apply(runtime: RuntimeId, assigned: readonly Assigned[]): Promise<void> {
    const { homes, logger, supervisor } = this.#options;
    const children = assigned.filter((one) => 'launch' in one && one.launch.kind === 'child');
    // An MCP server that can be run is worth more than that its home is taken away one day.
    await homes
      .note(
        runtime,
        children.map(({ mcpServer }) => mcpServer),
      )
      .catch((err: unknown) => logger.warn({ err }, 'could not note down whose homes there are'));
    const before = supervisor.ids;
    supervisor.apply(assigned);
    const after = new Set(supervisor.ids);
    // What became of those it let go of is asked at once.
    if (before.some((id) => !after.has(id))) this.fetchNow();
  }

  /** Of MCP servers that do not run here: so many at once, and from one time to the next all. */
  async #homesToAskAbout(runtime: RuntimeId): Promise<readonly McpServerId[]> {
    const { homes, supervisor } = this.#options;
    const running = new Set(supervisor.ids);
    const idle = (await homes.of(runtime)).filter((id) => !running.has(id) && !this.#removing.has(id));
    const later = idle.filter((id) => id > this.#lastAsked);
    const asked = [...later, ...idle.filter((id) => id <= this.#lastAsked)].slice(0, homesMax);
    this.#lastAsked = asked.at(-1) ?? '';
    return asked;
  }

  #removeHome(runtime: RuntimeId, mcpServer: McpServerId): void {
    const removing = this.#removeOnceEnded(runtime, mcpServer);
    this.#removing.set(
      mcpServer,
      removing.finally(() => this.#removing.delete(mcpServer)),
    );
  }

  /** Never rejects: a home that stays is asked about again. */
  async #removeOnceEnded(runtime: RuntimeId, mcpServer: McpServerId): Promise<void> {
    const { homes, logger, supervisor } = this.#options;
    try {
      await supervisor.ended(mcpServer);
      await homes.remove(runtime, mcpServer);
      logger.info({ mcpServer }, 'removed the home of an MCP server that is no more');
    } catch (err) {
      logger.warn({ err, mcpServer }, 'could not remove the home of an MCP server');
    }
  }
}

/** Nobody knows this runtime, or nobody does any more. */
export function isRefusal({ code }: SvcError): boolean {
  return code === 'unauthenticated' || code === 'forbidden';
}
