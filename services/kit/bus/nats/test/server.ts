import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { findProgram } from '../../../../../stack/machine/find-program.ts';
import { natsConfiguration } from '../../../../../stack/parts/nats-configuration.ts';
import { newBusSeed, publicBusKey } from '../../../../../stack/secrets/bus-seeds.ts';
import { freePort } from '../../../../../stack/test/free-ports.ts';
import { Secret } from '../../../../contracts/secret.ts';
import type { BackendSeeds } from '../../bus.ts';

/** Where `nats-server` lies on the path of programs; null where it is not installed. */
export function findNatsServer(): string | null {
  return findProgram('nats-server', process.env.PATH);
}

export interface TestServerOptions {
  /** With bus.pem and bus.key, which lie in the folder. */
  readonly tls?: boolean;
  /** Of an installation that shall know it. */
  readonly seeds?: BackendSeeds;
  /** Without the mapping by which clients of the version before are answered, as of somebody who has not added it. */
  readonly mapped?: boolean;
  /** What it is told of other nodes; by itself it is alone. */
  readonly node?: Node;
}

/** A node of a cluster, as svc would configure it. */
export interface Node {
  readonly NAME: string;
  readonly ROUTE_LISTEN: string;
  readonly ROUTES: string;
  readonly ROUTE_SECRET: string;
}

/** A NATS server of a test's own, as an installation would have it, on a free port of this machine. */
export class TestServer {
  readonly seeds: BackendSeeds;
  readonly #folder: string;
  readonly #tls: boolean;
  readonly #mapped: boolean;
  readonly #node: Node | { readonly NAME: string };
  #child: ChildProcess | null = null;
  #port = 0;
  #monitoringPort = 0;

  private constructor(folder: string, { tls = false, seeds = newSeeds(), node, mapped = true }: TestServerOptions) {
    this.#mapped = mapped;
    this.#folder = folder;
    this.#node = node ?? { NAME: 'test' };
    this.#tls = tls;
    this.seeds = seeds;
  }

  /** Keeps its streams in the folder, and finds there what was kept before. */
  static async start(folder: string, options: TestServerOptions = {}): Promise<TestServer> {
    const server = new TestServer(folder, options);
    await server.start();
    return server;
  }

  get url(): string {
    return `${this.#tls ? 'tls' : 'nats'}://127.0.0.1:${this.#port}`;
  }

  get monitoringUrl(): string {
    return `http://127.0.0.1:${this.#monitoringPort}`;
  }

  get port(): number {
    return this.#port;
  }

  /** Where its streams are. */
  get storeDir(): string {
    return join(this.#folder, 'jetstream');
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** SIGSTOP makes it a server that answers nothing, and SIGCONT one that goes on. */
  /** Resolves when no thread runs any more: until then the server may still answer. */
  async freeze(): Promise<void> {
    this.#child?.kill('SIGSTOP');
    const stateFile = `/proc/${this.#child?.pid}/stat`;
    while (!/\) T /.test(readFileSync(stateFile, 'utf8'))) await pause(1);
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /** On the port it had, where it had one. */
  async start(): Promise<void> {
    const program = findNatsServer();
    if (program === null) throw new Error('nats-server is not on the path of programs');
    if (this.#port === 0) [this.#port, this.#monitoringPort] = [await freePort(), await freePort()];
    const file = join(this.#folder, 'nats.conf');
    const configuration = this.#configuration();
    writeFileSync(file, this.#mapped ? configuration : configuration.replace(/^ *mappings .*$/m, ''));
    const child = spawn(program, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    // A test that fails before it stops its server leaves none behind.
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      lines.push(line);
      if (line.includes('Server is ready')) {
        child.stderr.resume();
        return;
      }
    }
    throw new Error(`nats-server ended before it was ready:\n${lines.join('\n')}`);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  #configuration(): string {
    const { callout, system, issuer } = this.seeds;
    return natsConfiguration({
      ...this.#node,
      LISTEN: `127.0.0.1:${this.#port}`,
      HTTP_LISTEN: `127.0.0.1:${this.#monitoringPort}`,
      TLS: this.#tls
        ? `tls { cert_file: "${join(this.#folder, 'bus.pem')}", key_file: "${join(this.#folder, 'bus.key')}" }`
        : '',
      STORE_DIR: this.storeDir,
      CALLOUT_PUBLIC_KEY: publicBusKey(callout.reveal()),
      SYSTEM_PUBLIC_KEY: publicBusKey(system.reveal()),
      ISSUER_PUBLIC_KEY: publicBusKey(issuer.reveal()),
    });
  }
}

export function newSeeds(): BackendSeeds {
  const seed = (of: 'user' | 'account') => new Secret(newBusSeed(of));
  return { callout: seed('user'), system: seed('user'), issuer: seed('account') };
}
