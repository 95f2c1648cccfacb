import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { type HandshakeRequest, handshakeReply } from '../../contracts/bus/messages.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { type SvcError, toSvcError } from '../../contracts/errors.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import type { Logger } from '../../kit/log.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { type Backoff, backoffMs } from '../time/backoff.ts';
import type { RuntimeConnection } from './connect.ts';
import type { OwnKey } from './own-key.ts';

export interface AssignmentsOptions {
  readonly connection: RuntimeConnection;
  readonly key: OwnKey;
  readonly supervisor: Supervisor;
  readonly version: string;
  readonly logger: Logger;
  /** What is assigned is known: for the first time, or again after it was asked for. */
  readonly onFetched: () => void;
}

/** A lost command is made up for by asking anyway; nothing is sealed where nothing has changed. */
const intervalMs = 15_000;
const answerMaxMs = 10_000;
const retry: Backoff = { firstMs: 300, maxMs: 15_000 };

/** Keeps what runs here equal to what the backend assigns to this runtime. */
export class Assignments {
  readonly #options: AssignmentsOptions;
  readonly #stopping = new AbortController();
  #etag: string | undefined;
  #wake = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #problem: string | null = 'the backend has not been asked yet';

  constructor(options: AssignmentsOptions) {
    this.#options = options;
  }

  /** Null where the backend has accepted this runtime, else why not. */
  get problem(): string | null {
    return this.#problem;
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
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      // Whoever wakes it from here on is answered by another round.
      this.#wake = new AbortController();
      failures = (await this.#fetch()) ? 0 : failures + 1;
      if (signal.aborted) return;
      const waitMs = failures === 0 ? intervalMs : backoffMs(retry, failures, Math.random());
      await pause(waitMs, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
  }

  async #fetch(): Promise<boolean> {
    const { logger, onFetched, supervisor } = this.#options;
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
        // A runtime that was revoked has no business with anybody's secrets any more.
        this.#etag = undefined;
        supervisor.apply([]);
      }
      return false;
    }
  }

  async #shakeHands({ bus, runtime, process }: RuntimeConnection): Promise<void> {
    const { key, supervisor, version } = this.#options;
    const etag = this.#etag === undefined ? {} : { etag: this.#etag };
    const request: HandshakeRequest = {
      version,
      hostname: hostname().slice(0, 255),
      publicKey: key.publicKey,
      ...etag,
    };
    const reply = handshakeReply.parse(await ask(bus, subjects.handshake(runtime, process), request));
    if (reply.sealed !== undefined) supervisor.apply(await key.open(reply.sealed));
    this.#etag = reply.etag;
  }
}

async function ask(bus: Bus, subject: string, body: unknown): Promise<unknown> {
  const { payload } = await bus.request(subject, Buffer.from(JSON.stringify(body)), { timeoutMs: answerMaxMs });
  return JSON.parse(Buffer.from(payload).toString());
}

function isRefusal({ code }: SvcError): boolean {
  return code === 'unauthenticated' || code === 'forbidden';
}
