import { setTimeout as pause } from 'node:timers/promises';
import { type Assigned, type HandshakeRequest, handshakeReply, homesMax } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { describeClocks } from '../../contracts/clocks.ts';
import { type SvcError, toSvcError } from '../../contracts/errors.ts';
import type { McpServerId, RuntimeId } from '../../contracts/ids.ts';
import type { HomeOfOperators, Sandbox } from '../../contracts/sandbox.ts';
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
  readonly home: HomeOfOperators;
  readonly logger: Logger;
  /** The assignments have arrived, for the first time or again after a request. */
  readonly onFetched: () => void;
  /** The platform's clock differs: both times and the difference. Told once. */
  readonly onOtherTime: (told: string) => void;
  /** The backend does not accept this runtime (any more). */
  readonly onRefused: (refusal: SvcError) => void;
}

/** Asks regularly, to make up for a lost command; unchanged assignments are not sealed again. */
const intervalMs = 15_000;
const answerMaxMs = 10_000;
/**
 * Commands arrive in bursts, and one handshake answers all of them. The backend refuses a runtime that asks without a
 * pause.
 */
const pauseMs = 200;
const retry: Backoff = { firstMs: 300, maxMs: 15_000 };

/** Keeps the running MCP servers equal to the backend's assignments. */
export class Assignments {
  readonly #options: AssignmentsOptions;
  readonly #stopping = new AbortController();
  #etag: string | undefined;
  #wake = new AbortController();
  #running: Promise<void> = Promise.resolve();
  readonly #removing = new Map<McpServerId, Promise<void>>();
  #lastAsked = '';
  #isClockWrong = false;
  #problem: string | null = 'the backend has not been asked yet';

  constructor(options: AssignmentsOptions) {
    this.#options = options;
  }

  /** Null when the backend has accepted this runtime, else the reason. */
  get problem(): string | null {
    return this.#problem;
  }

  /** A revoked runtime must not keep any secrets. */
  drop(): void {
    this.#etag = undefined;
    this.#options.supervisor.apply([]);
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  /** The assignments may have changed. */
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
      // A wake-up from here on causes another round.
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
      if (error.message !== this.#problem) logger.warn({ err: error }, 'failed to fetch assignments');
      this.#problem = error.message;
      if (isRefusal(error)) {
        this.drop();
        onRefused(error);
      }
      return false;
    }
  }

  async #shakeHands({ bus, runtime, process }: RuntimeConnection): Promise<void> {
    const { home, key, sandbox, version } = this.#options;
    const homes = await this.#homesToAskAbout(runtime);
    const request: HandshakeRequest = {
      version,
      sandbox,
      home,
      confinesMembers: true,
      publicKey: key.publicKey,
      ...(this.#etag === undefined ? {} : { etag: this.#etag }),
      ...(homes.length === 0 ? {} : { homes: [...homes] }),
    };
    const reply = handshakeReply.parse(await this.#ask(bus, subjects.handshake(runtime, process), request));
    if (reply.at !== undefined) this.#compareClocks(reply.at);
    if (reply.sealed !== undefined) await this.#apply(runtime, await key.open(reply.sealed));
    this.#etag = reply.etag;
    for (const mcpServer of reply.removed ?? []) if (homes.includes(mcpServer)) this.#removeHome(runtime, mcpServer);
  }

  /** A wrong clock breaks certificates and tokens of MCP servers, not the runtime itself. */
  #compareClocks(thereMs: number): void {
    const told = describeClocks({ hereMs: Date.now(), thereMs, whose: "the platform's" });
    if (told !== null && !this.#isClockWrong) this.#options.onOtherTime(told);
    this.#isClockWrong = told !== null;
  }

  async #ask(bus: Bus, subject: string, body: unknown): Promise<unknown> {
    const options = { timeoutMs: answerMaxMs, signal: this.#stopping.signal };
    const { payload } = await bus.request(subject, Buffer.from(JSON.stringify(body)), options);
    return JSON.parse(Buffer.from(payload).toString());
  }

  async #apply(runtime: RuntimeId, assigned: readonly Assigned[]): Promise<void> {
    const { homes, logger, supervisor } = this.#options;
    const children = assigned.filter((one) => 'launch' in one && one.launch.kind === 'child');
    // A failure with homes must not keep MCP servers from running.
    await homes.note(runtime, children).catch((err: unknown) => logger.warn({ err }, 'failed to note the homes'));
    const before = supervisor.ids;
    supervisor.apply(assigned);
    const after = new Set(supervisor.ids);
    // Asks at once whether MCP servers that are no longer assigned still exist.
    if (before.some((id) => !after.has(id))) this.fetchNow();
  }

  /** The homes of MCP servers that do not run here, a limited number at once; each round continues after the last. */
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

  /** Never rejects, because the next round asks about a remaining home again. */
  async #removeOnceEnded(runtime: RuntimeId, mcpServer: McpServerId): Promise<void> {
    const { homes, logger, supervisor } = this.#options;
    try {
      await supervisor.ended(mcpServer);
      await homes.remove(runtime, mcpServer);
      logger.info({ mcpServer }, 'removed the home of a removed MCP server');
    } catch (err) {
      logger.warn({ err, mcpServer }, 'failed to remove the home of an MCP server');
    }
  }
}

/** The platform does not know this runtime (any more). */
export function isRefusal({ code }: SvcError): boolean {
  return code === 'unauthenticated' || code === 'forbidden';
}
