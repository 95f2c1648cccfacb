import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Identity } from '../../../contracts/bus/permissions.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { type KeyId, newId, newProcessId, type ProcessId, type RuntimeId, randomText } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import type { Authorizer, Bus, Credentials, Hub } from '../bus.ts';
import type { RawClient } from './raw-client.ts';

/** An engine of the bus under the contract suite. */
export interface BusEngine {
  readonly name: string;
  /** Starts a bus that keeps its streams and buckets in the folder and loads what an earlier bus kept there. */
  start(folder: string): Promise<TestHub>;
  /** Resolves when everything the connection sent so far, subscriptions included, has reached the bus. */
  reached(bus: Bus): Promise<void>;
  /**
   * Starts a bus on the folder in its own process, writes records and keys to it, and kills it with SIGKILL during the
   * writes. Returns the acknowledged writes.
   */
  crash(folder: string): Promise<Acknowledged>;
}

export interface TestHub extends Hub {
  connectRaw(credentials: Credentials, process: ProcessId): Promise<RawClient>;
}

/** Texts of records of the stream `usage`, and keys of the bucket `sessions` with their last text. */
export interface Acknowledged {
  readonly records: readonly string[];
  readonly keys: ReadonlyMap<string, string>;
}

export interface Runtime extends IssuedKey {
  readonly bus: Bus;
  readonly process: ProcessId;
}

export interface RawRuntime extends IssuedKey {
  readonly client: RawClient;
  readonly process: ProcessId;
  /** Shows the bus that this is the same process again. */
  readonly nonce: ProcessId;
}

/** A runtime key that was issued. */
export interface IssuedKey {
  readonly runtime: RuntimeId;
  readonly key: KeyId;
  readonly credentials: Credentials;
  readonly secret: string;
  /** The process id that the first client with the key gets. */
  readonly admitted: Promise<ProcessId>;
}

/** A bus with a backend that admits the clients the test names. */
export class TestPlatform implements AsyncDisposable {
  readonly hub: TestHub;
  readonly backend: Bus;
  readonly folder: string;
  readonly #engine: BusEngine;
  readonly #identities = new Map<string, (process: ProcessId) => Identity>();

  private constructor(engine: BusEngine, folder: string, hub: TestHub, backend: Bus) {
    this.#engine = engine;
    this.folder = folder;
    this.hub = hub;
    this.backend = backend;
    backend.authorize(this.authorizer);
  }

  static async start(engine: BusEngine, options: { folder?: string } = {}): Promise<TestPlatform> {
    const folder = options.folder ?? (await newFolder());
    const hub = await engine.start(folder);
    const backend = await hub.connect({ kind: 'backend' }, newProcessId());
    const platform = new TestPlatform(engine, folder, hub, backend);
    await engine.reached(backend);
    return platform;
  }

  readonly authorizer: Authorizer = async (credentials, process) => {
    const identity = credentials.kind === 'backend' ? undefined : this.#identities.get(credentials.key.reveal());
    if (identity === undefined) throw new SvcError('unauthenticated', 'This key is not known.');
    return identity(process);
  };

  async remoteMcp(): Promise<Bus> {
    const key = randomText(20);
    this.#identities.set(key, (process) => ({ kind: 'remote-mcp', process }));
    return this.hub.connect({ kind: 'system', key: new Secret(key), component: 'remote-mcp' }, newProcessId());
  }

  /** One more process of the given runtime, or the first process of a new runtime. */
  async runtime(runtime: RuntimeId = newId('runtime')): Promise<Runtime> {
    const issued = this.issueKey(runtime);
    const bus = await this.hub.connect(issued.credentials, newProcessId());
    return { ...issued, bus, process: bus.identity.process };
  }

  /** A new runtime whose process does not use the bus's own client. */
  async rawRuntime(): Promise<RawRuntime> {
    const issued = this.issueKey();
    const nonce = newProcessId();
    const client = await this.hub.connectRaw(issued.credentials, nonce);
    return { ...issued, client, nonce, process: await issued.admitted };
  }

  issueKey(runtime: RuntimeId = newId('runtime')): IssuedKey {
    const secret = randomText(20);
    const key = newId('key');
    const { promise: admitted, resolve: admit } = Promise.withResolvers<ProcessId>();
    this.#identities.set(secret, (process) => {
      admit(process);
      return { kind: 'runtime', process, runtime, name: 'test', workspace: null, key };
    });
    const credentials: Credentials = { kind: 'runtime', key: new Secret(secret) };
    return { runtime, key, credentials, secret, admitted };
  }

  forget(credentials: Credentials): void {
    if (credentials.kind !== 'backend') this.#identities.delete(credentials.key.reveal());
  }

  reached(bus: Bus): Promise<void> {
    return this.#engine.reached(bus);
  }

  /** The same bus after a restart. */
  async restarted(): Promise<TestPlatform> {
    await this.hub.stop();
    return TestPlatform.start(this.#engine, { folder: this.folder });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hub.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'bus-'));
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (payload: Uint8Array): string => new TextDecoder().decode(payload);

/** The items received so far, and a way to wait for an expected number. */
export class ReceivedItems<Item> {
  readonly items: Item[] = [];
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  readonly take = (item: Item): void => {
    this.items.push(item);
    for (const { count, resolve } of this.#waiting) if (this.items.length >= count) resolve();
  };

  async atLeast(count: number): Promise<readonly Item[]> {
    if (this.items.length < count) await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
    return this.items;
  }
}
