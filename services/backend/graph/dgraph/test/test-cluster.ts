import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askDgraph } from '../../../../../stack/graph/ask-dgraph.ts';
import { provisioned } from '../../../../../stack/graph/provision-graph.ts';
import { findProgram } from '../../../../../stack/machine/find-program.ts';
import { isFree } from '../../../../../stack/machine/is-free.ts';
import { graphAdmin, graphGroup, graphUser } from '../../../../../stack/parts/dgraph.ts';
import { randomText } from '../../../../contracts/ids.ts';
import { Secret } from '../../../../contracts/secret.ts';
import type { GraphAddress } from '../../contract/graph-address.contract.ts';
import { Cluster, type ClusterOptions } from '../cluster.ts';

export function findDgraph(): string | null {
  return findProgram('dgraph', process.env.PATH);
}

/** Two leader elections on a busy machine. */
const readyMs = 60_000;
/** To read 4, to write 2, to change the schema 1. */
const permissions = { all: 7, none: 0 } as const;
/** The administrator's password in every new Dgraph. */
const firstPassword = 'password';

/** A Dgraph with one coordination node and one data node for one test, on free ports of this machine. */
export class TestCluster {
  readonly #folder: string;
  readonly #offset: number;
  readonly #children = new Map<'zero' | 'alpha', ChildProcess>();

  private constructor(folder: string, offset: number) {
    this.#folder = folder;
    this.#offset = offset;
  }

  static async start(folder: string): Promise<TestCluster> {
    const cluster = new TestCluster(folder, await freeOffset());
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'acl.key'), randomText(32), { mode: 0o600 });
    await cluster.startAgain();
    return cluster;
  }

  get url(): string {
    return `http://127.0.0.1:${8080 + this.#offset}`;
  }

  #startZero(): void {
    const ports = ['--port_offset', String(this.#offset), '--my', `127.0.0.1:${5080 + this.#offset}`];
    this.#spawn('zero', [...ports, '--wal', join(this.#folder, 'zw')]);
  }

  /** Starts the killed node again. Resolves when the cluster answers. */
  async startAgain(): Promise<void> {
    if (!this.#children.has('zero')) this.#startZero();
    if (!this.#children.has('alpha')) this.#startAlpha();
    await this.#ready();
  }

  #startAlpha(): void {
    const ports = ['--port_offset', String(this.#offset), '--my', `127.0.0.1:${7080 + this.#offset}`];
    const at = (name: string) => join(this.#folder, name);
    this.#spawn('alpha', [
      ...ports,
      ...['--zero', `127.0.0.1:${5080 + this.#offset}`, '--postings', at('p'), '--wal', at('w'), '--tmp', at('t')],
      ...['--acl', `secret-file=${at('acl.key')}`, '--cache', 'size-mb=256'],
    ]);
  }

  async #ready(): Promise<void> {
    for (const until = performance.now() + readyMs; ; ) {
      const answer = await fetch(`${this.url}/health`).catch(() => null);
      if (answer?.ok && (await this.#token().catch(() => null)) !== null) return;
      if (performance.now() > until) throw new Error(`Dgraph was not ready in time:\n${this.#log('alpha')}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** The address of a graph, as a client of the cluster gets it. */
  static optionsFor({ url, user = '', password = '', namespace }: GraphAddress): ClusterOptions {
    const { hostname, port } = new URL(url);
    const servers = [`${hostname}:${Number(port) + 1000}`];
    return { servers, tls: null, login: { user, password: new Secret(password) }, namespace };
  }

  /** A new namespace, which is an empty graph. */
  async emptyGraph(): Promise<GraphAddress> {
    const password = randomText(16);
    const data = await this.#admin(`mutation { addNamespace(input: { password: "${password}" }) { namespaceId } }`);
    const { namespaceId } = (data as { addNamespace: { namespaceId: number } }).addNamespace;
    return { url: this.url, user: graphAdmin, password, namespace: namespaceId };
  }

  /** A user with only the given rights in that graph, created as the platform creates its backend's user. */
  async userIn(graph: GraphAddress): Promise<GraphAddress & { give(rights: keyof typeof permissions): Promise<void> }> {
    const password = randomText(16);
    const all = provisioned({ ofUser: password, ofAdmin: graph.password ?? '' });
    await askDgraph({ url: this.url }, '/mutate?commitNow=true', all, { access: await this.#token(graph) });
    const give = async (rights: keyof typeof permissions) => {
      const rule = `{ predicate: "dgraph.all", permission: ${permissions[rights]} }`;
      const group = `filter: { name: { eq: "${graphGroup}" } }, set: { rules: [${rule}] }`;
      await this.#admin(`mutation { updateGroup(input: { ${group} }) { group { name } } }`, graph);
    };
    return { ...graph, user: graphUser, password, give };
  }

  async kill(node: 'zero' | 'alpha', signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#children.get(node);
    if (child === undefined) return;
    this.#children.delete(node);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  async stop(): Promise<void> {
    await this.kill('alpha');
    await this.kill('zero');
  }

  #spawn(node: 'zero' | 'alpha', args: readonly string[]): void {
    const program = findDgraph();
    if (program === null) throw new Error('dgraph is not on the path of programs');
    const log = openSync(join(this.#folder, `${node}.log`), 'a');
    const all = [node, '--bindall=false', '--telemetry', 'reports=false', ...args];
    const child = spawn(program, all, { cwd: this.#folder, stdio: ['ignore', log, log] });
    this.#children.set(node, child);
    // A test that fails before it stops its cluster leaves none behind.
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
  }

  async #admin(query: string, graph?: GraphAddress): Promise<unknown> {
    const headers = { 'content-type': 'application/json', 'x-dgraph-accesstoken': await this.#token(graph) };
    return graphql(`${this.url}/admin`, query, headers);
  }

  async #token({ password = firstPassword, namespace = 0 }: Partial<GraphAddress> = {}): Promise<string> {
    const query = `mutation { login(userId: "${graphAdmin}", password: "${password}", namespace: ${namespace}) { response { accessJWT } } }`;
    const data = await graphql(`${this.url}/admin`, query, { 'content-type': 'application/json' });
    return (data as { login: { response: { accessJWT: string } } }).login.response.accessJWT;
  }

  #log(node: 'zero' | 'alpha'): string {
    return readFileSync(join(this.#folder, `${node}.log`), 'utf8')
      .split('\n')
      .slice(-20)
      .join('\n');
  }
}

/** A client that is closed at the end of its block. */
export function clusterAt(address: GraphAddress): Cluster & Disposable {
  const cluster = new Cluster(TestCluster.optionsFor(address));
  return Object.assign(cluster, { [Symbol.dispose]: () => cluster.close() });
}

async function graphql(url: string, query: string, headers: Record<string, string>): Promise<unknown> {
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const { data, errors } = (await answer.json()) as { data: unknown; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

/** Dgraph moves all ports of a node by the same number. */
async function freeOffset(): Promise<number> {
  for (;;) {
    const offset = 6000 + Math.floor(Math.random() * 16_000);
    const ports = [5080, 6080, 7080, 8080, 9080].map((port) => port + offset);
    const free = await Promise.all(ports.map((port) => isFree('127.0.0.1', port)));
    if (!free.includes(false)) return offset;
  }
}
