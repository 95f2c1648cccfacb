import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Run, type RunOptions, runSvc } from '../../cli/test/run-svc.ts';
import { type BackendClient, connectToBackend } from '../client/backend-client.ts';
import { workspaceQuery } from '../client/generated/operations.ts';
import type { ServiceStatus, Status } from '../lifecycle/platform-status.ts';
import { findProgram } from '../machine/find-program.ts';
import { isFree } from '../machine/is-free.ts';
import type { Engine, Graph, Topology } from '../settings/choices.ts';
import { replaceScalar } from '../settings/yaml-text.ts';
import { type Installation, installationIn } from '../state/installation.ts';
import { type Agent, connectAgent } from './agent.ts';
import { editDefinition } from './edit-definition.ts';
import { foreignServers } from './foreign-servers.ts';
import {
  type BusPorts,
  type DgraphPorts,
  freeBusPorts,
  freeDgraphPorts,
  freeServicePorts,
  type ServicePorts,
} from './free-ports.ts';
import { processesOf } from './running-processes.ts';
import { until } from './until.ts';

export interface PlatformOptions {
  /** Changes svc.yaml before the first start. */
  readonly settings?: (yaml: string) => string;
  /** The folder in which the platform's own folder is made. */
  readonly within?: string;
  /** An archive of an installation, which is unpacked instead of making a new installation. */
  readonly archive?: string;
  readonly topology?: Topology;
  readonly graph?: Graph;
  readonly engine?: Engine;
  /** Numbers by the fields of `replicas` in svc.yaml. */
  readonly replicas?: Readonly<Record<string, number>>;
  /** Variables in addition to PATH and a home of its own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Limit for one `svc`; default: a minute. */
  readonly patienceMs?: number;
}

/** `nats-server`, which a platform of several processes needs. */
export const hasNatsServer = findProgram('nats-server', process.env.PATH) !== null;
/** `dgraph`, which a graph of several nodes needs. */
export const hasDgraph = findProgram('dgraph', process.env.PATH) !== null;

/** Limit for a test that starts and fills a platform, on a machine with other work. */
export const startTimeoutMs = 120_000;
/** Limit for a test that runs `svc` a few times. */
export const testTimeoutMs = 60_000;

/** The first start on a Docker daemon builds the image. */
const upTimeoutMs = 300_000;

const unpack = promisify(execFile);

/**
 * An installation in a temporary folder, on its own ports, run by the built `svc` as a person would run it. Disposal
 * takes it down, and proves that nothing of it is left.
 */
export class Platform {
  /** Holds the installation, and other files of a test. */
  readonly folder: string;
  readonly installation: Installation;
  readonly ports: ServicePorts;
  /** Ports as in `bus` of svc.yaml, for a bus that is a process. `httpPort` stays closed. */
  readonly busPorts: BusPorts;
  /** All output of `svc`, on both streams. */
  readonly printed: string[] = [];
  readonly #dgraphPorts: DgraphPorts;
  readonly #agents: Agent[] = [];
  readonly #options: PlatformOptions;

  private constructor(folder: string, options: PlatformOptions, ports: readonly [ServicePorts, BusPorts, DgraphPorts]) {
    this.folder = folder;
    this.installation = installationIn(join(folder, 'svc'));
    [this.ports, this.busPorts, this.#dgraphPorts] = ports;
    this.#options = options;
  }

  /** Ports by the sections of svc.yaml. */
  get #sections(): Readonly<Record<string, Readonly<Record<string, number>>>> {
    const { 'dgraph-alpha': port, 'dgraph-zero': zeroPort } = this.#dgraphPorts;
    return { ports: this.ports, bus: { port: this.busPorts.port }, graphdb: { port, zeroPort } };
  }

  /** Makes a platform without starting it. */
  static async init(options: PlatformOptions = {}): Promise<Platform> {
    const { settings = (yaml) => yaml, within = tmpdir(), replicas = {} } = options;
    const { topology = 'embedded', graph = 'sqlite', engine = 'process' } = options;
    const folder = await mkdtemp(join(within, 'svc-whole-path-'));
    const [services, bus] = [await freeServicePorts(), await freeBusPorts(replicas.nats)];
    const platform = new Platform(folder, options, [services, bus, await freeDgraphPorts(replicas['dgraph-alpha'])]);
    const chosen = ['--topology', topology, '--graph', graph, '--engine', engine];
    if (options.archive === undefined) await platform.svc('init', platform.installation.dir, '--yes', ...chosen);
    else await unpack('tar', ['--no-same-owner', '-xzf', options.archive, '-C', folder]);
    const { definitionFile } = platform.installation;
    let yaml = await readFile(definitionFile, 'utf8');
    for (const [section, ports] of Object.entries(platform.#sections)) {
      for (const [field, port] of Object.entries(ports)) yaml = replaceScalar(yaml, [section, field], String(port));
    }
    for (const [name, count] of Object.entries(replicas)) {
      yaml = replaceScalar(yaml, ['replicas', name], String(count));
    }
    await writeFile(definitionFile, settings(yaml));
    return platform;
  }

  static async start(options?: PlatformOptions): Promise<Platform> {
    const platform = await Platform.init(options);
    await platform.up();
    return platform;
  }

  /** Returns the output of `svc up` for people. */
  async up(): Promise<string> {
    const { code, stderr } = await this.run(['up'], { timeoutMs: upTimeoutMs });
    if (code !== 0) throw new Error(`svc up ended with ${code}: ${stderr}`);
    return stderr;
  }

  get mcpUrl(): string {
    return `http://127.0.0.1:${this.ports['remote-mcp']}/mcp`;
  }

  /** Runs `svc` with these arguments, and accepts any outcome. */
  async run(args: readonly string[], options: Partial<RunOptions> = {}): Promise<Run> {
    const env = { ...this.#options.env, SVC_DIR: this.installation.dir, ...options.env };
    const timeoutMs = this.#options.patienceMs;
    const run = await runSvc(args, { cwd: this.folder, ...(timeoutMs && { timeoutMs }), ...options, env });
    this.printed.push(run.stdout, run.stderr);
    return run;
  }

  /** Runs `svc` with --json, which must succeed, and returns its output. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  async svc(...args: readonly string[]): Promise<any> {
    const { code, stdout, stderr } = await this.run(withJson(args));
    // `svc status` ends with this code for a degraded platform.
    const isTold = args[0] === 'status' && code === 1;
    if (code !== 0 && !isTold) throw new Error(`svc ${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`);
    return JSON.parse(stdout);
  }

  /** Runs `svc` with --json, which must fail, and returns its output and exit code. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  async fails(...args: readonly string[]): Promise<{ readonly code: number | null; readonly json: any }> {
    const { code, stdout, stderr } = await this.run(withJson(args));
    if (code === 0) throw new Error(`svc ${args.join(' ')} succeeded\n${stdout}\n${stderr}`);
    return { code, json: JSON.parse(stdout) };
  }

  /** Adds an MCP server and waits until it is Connected. */
  async addServer(name: string, command: readonly string[], flags: readonly string[] = []): Promise<void> {
    await this.svc('server', 'add', name, ...flags, '--', ...command);
  }

  /** Creates a skill of these tools (MCPSERVER/TOOL), which may be missing, and returns its id. */
  async addSkill(name: string, tools: readonly string[]): Promise<string> {
    return (await this.svc('skill', 'create', name, ...tools.flatMap((tool) => ['--tool', tool]), '--allow-missing'))
      .id;
  }

  async addRole(name: string, skills: readonly string[]): Promise<string> {
    return (await this.svc('role', 'create', name, ...skills.flatMap((skill) => ['--skill', skill]))).id;
  }

  /** Adds an MCP server with the tool echo, in a skill of the role All. Returns the skill's id. */
  async addEcho(): Promise<string> {
    await this.addServer('everything', foreignServers.everything);
    const skill = await this.addSkill('all', ['everything/echo']);
    await this.addRole('All', ['all']);
    return skill;
  }

  /** Creates a key, and returns the text of the key. */
  async addKey(name: string, ...flags: readonly string[]): Promise<string> {
    return (await this.svc('keys', 'create', '--name', name, ...flags)).key;
  }

  /** Connects an agent that has `echo` from the start. */
  async addAgent() {
    const query = `?skillIds=${await this.addEcho()}`;
    const key = await this.addKey('agent');
    return { agent: await this.connect(key, query), key, url: `${this.mcpUrl}${query}` };
  }

  /** Connects as an agent would. The session ends with the platform. */
  async connect(key: string, query = ''): Promise<Agent> {
    const agent = await connectAgent(`${this.mcpUrl}${query}`, key);
    this.#agents.push(agent);
    return agent;
  }

  /** A GraphQL client for an operator. */
  backend(): Promise<BackendClient> {
    return connectToBackend(this.installation);
  }

  /** The id of the first workspace. */
  async workspace(): Promise<string> {
    const { workspace } = await (await this.backend()).send(workspaceQuery, { name: 'Default' });
    return workspace?.id ?? '';
  }

  /** The services by name, as `svc status` reports them. */
  async services(): Promise<ReadonlyMap<string, ServiceStatus>> {
    const { services }: Status = await this.svc('status');
    return new Map(services.map((service) => [service.name, service]));
  }

  /** Names of the services that have another process after this work. */
  async changedBy(work: () => Promise<unknown>): Promise<readonly string[]> {
    const before = await this.services();
    await work();
    const after = [...(await this.services()).values()];
    return after.filter(({ name, pid }) => before.get(name)?.pid !== pid).map(({ name }) => name);
  }

  /** Kills a service. Returns when it was restarted and all services are healthy. */
  async killService(name: string, withinMs?: number): Promise<void> {
    const before = (await this.services()).get(name);
    if (!before?.pid) throw new Error(`${name} is no process`);
    process.kill(before.pid, 'SIGKILL');
    await until(async () => {
      const now = await this.services();
      const isBack = now.get(name)?.restarts === before.restarts + 1;
      return isBack && [...now.values()].every(({ state }) => state === 'healthy');
    }, withinMs);
  }

  /** The process of the backend; where the platform is one process, that process. */
  async pid(): Promise<number> {
    const { services } = await this.svc('status');
    return services[0].pid;
  }

  /** Replaces a text of svc.yaml. */
  edit(from: string, to: string): void {
    editDefinition(this.installation, from, to);
  }

  /** Resolves when `svc status` reports that the platform runs. */
  async running(withinMs = 60_000): Promise<void> {
    await until(async () => {
      const { code, stdout } = await this.run(['status', '--json']);
      return code === 0 && JSON.parse(stdout).state === 'running';
    }, withinMs);
  }

  /** Kills the platform without a graceful shutdown. Returns when it is gone. */
  async kill(): Promise<void> {
    const pid = await this.pid();
    process.kill(pid, 'SIGKILL');
    await until(() => processesOf(this.installation.dir).every((one) => one.pid !== pid));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client } of this.#agents) await client.close();
    await this.svc('down');
    const left = processesOf(this.folder).map(({ pid, command }) => `${pid} ${command.trim().replaceAll('\n', ' ')}`);
    for (const [name, port] of Object.values(this.#sections).flatMap(Object.entries<number>)) {
      if (!(await isFree('127.0.0.1', port))) left.push(`the port of ${name}`);
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
    if (left.length > 0) throw new Error(`svc down left ${left.join('; ')}.`);
  }
}

/** The arguments of a command with --json, before the arguments of an MCP server. */
export function withJson(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end === -1 ? [...args, '--json'] : [...args.slice(0, end), '--json', ...args.slice(end)];
}
