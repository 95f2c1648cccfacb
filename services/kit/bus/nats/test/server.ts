import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { findProgram } from '../../../../../stack/machine/find-program.ts';
import { natsConfiguration } from '../../../../../stack/parts/nats.ts';
import { newBusSeed, publicBusKey } from '../../../../../stack/secrets/bus-seeds.ts';
import { freePort } from '../../../../../stack/test/free-ports.ts';
import { Secret } from '../../../../contracts/secret.ts';
import type { BackendSeeds } from '../../bus.ts';

/** Path of `nats-server` on PATH; null when it is not installed. */
export function findNatsServer(): string | null {
  return findProgram('nats-server', process.env.PATH);
}

export interface TestServerOptions {
  /** With bus.pem and bus.key from the folder. */
  readonly tls?: boolean;
  /** The installation's seeds, if it has any. */
  readonly seeds?: BackendSeeds;
  /** False: without the mapping that answers clients of the previous version, as in a configuration that lacks it. */
  readonly mapped?: boolean;
  /** Its place in a cluster; without it the server is alone. */
  readonly node?: Node;
}

/** A node of a cluster, as svc configures it. */
export interface Node {
  readonly NAME: string;
  readonly ROUTE_LISTEN: string;
  readonly ROUTES: string;
  readonly ROUTE_SECRET: string;
}

/** A NATS server for one test, configured like an installation's, on a free port. */
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

  /** Keeps its streams in the folder and loads what an earlier server kept there. */
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

  /** The folder of its streams. */
  get storeDir(): string {
    return join(this.#folder, 'jetstream');
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** SIGSTOP makes it a server that does not answer, and SIGCONT lets it continue. */
  /** Resolves when all its threads are stopped: until then it may still answer. */
  async freeze(): Promise<void> {
    this.#child?.kill('SIGSTOP');
    const stateFile = `/proc/${this.#child?.pid}/stat`;
    while (!/\) T /.test(readFileSync(stateFile, 'utf8'))) await pause(1);
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /** On its previous port, if it had one. */
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
