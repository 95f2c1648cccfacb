import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CompactEncrypt, generateKeyPair, importJWK } from 'jose';
import { callHeader, callReplyKinds } from '../../contracts/bus/call.ts';
import {
  type Assigned,
  type HandshakeReply,
  type Heartbeat,
  handshakeRequest,
  heartbeat,
  type Launch,
  type Reason,
  type ReportedTool,
  type ServerReport,
} from '../../contracts/bus/messages.ts';
import { readReport } from '../../contracts/bus/report-lines.ts';
import { patterns, subjects } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { type McpServerId, newId, newProcessId, type ProcessId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import type { Author } from '../../contracts/sandbox.ts';
import type { Bus, Hub, Reply, RequestOptions } from '../../kit/bus/bus.ts';
import { errorFromBus } from '../../kit/bus/error-on-bus.ts';
import { startHub } from '../../kit/bus/start.ts';
import type { RunningService } from '../../kit/service.ts';
import type { Watch } from '../serve.ts';
import { startRuntime } from '../start.ts';
import { CallRefused } from '../supervisor/call-refused.ts';

/** The last report about an MCP server. */
export interface Reported extends Omit<ServerReport, 'tools'> {
  readonly tools: readonly ReportedTool[];
}

/**
 * A bus with the peers of a runtime: the backend's messages to it and its reports, and calls of remote-mcp. Each test
 * has its own.
 */
export class Platform {
  readonly runtime = newId('runtime');
  key = newKey('runtime');
  readonly workingDir: string;
  readonly logged: string[] = [];
  readonly heartbeats: Heartbeat[] = [];
  readonly reports: { complete: boolean; mcpServers: readonly McpServerId[] }[] = [];
  readonly #stack = new AsyncDisposableStack();
  readonly #reported = new Map<McpServerId, Reported>();
  readonly #waiting = new Set<() => void>();
  readonly #ids = new Map<string, McpServerId>();
  #assigned: readonly Assigned[] = [];
  #version = 1;
  #process: ProcessId | null = null;
  #isHanging = false;
  readonly #removed = new Set<McpServerId>();
  /** Homes that the runtime asked about last. */
  asked: readonly McpServerId[] = [];
  /** Refuses every handshake and report. */
  revoked = false;
  /** Number of reports to refuse. */
  refuseReports = 0;
  sealToSomebodyElse = false;
  /** How long running calls may take when a runtime is stopped. */
  drainMs = 30_000;
  handshakes = 0;
  /** The workspace of newly assigned MCP servers; null: each has its own. */
  workspace: WorkspaceId | null = null;
  hub!: Awaited<ReturnType<typeof startHub>>;
  backend!: Bus;
  remoteMcp!: Bus;

  private constructor(workingDir: string) {
    this.workingDir = workingDir;
  }

  static async open(): Promise<Platform> {
    const platform = new Platform(await mkdtemp(path.join(tmpdir(), 'svc-runtime-')));
    platform.#stack.defer(() => rm(platform.workingDir, { recursive: true, force: true, maxRetries: 5 }));
    platform.hub = platform.#stack.adopt(await startHub({ file: null }), (hub) => hub.stop());
    await platform.startBackend();
    const key = newKey('system');
    platform.remoteMcp = await platform.hub.connect({ kind: 'system', key, component: 'remote-mcp' }, newProcessId());
    return platform;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  async startBackend(): Promise<void> {
    const { runtime } = this;
    this.backend = await this.hub.connect({ kind: 'backend' }, newProcessId());
    this.backend.authorize(async (credentials, process) => {
      if (credentials.kind === 'system' && credentials.component === 'remote-mcp')
        return { kind: 'remote-mcp', process };
      const known = credentials.kind === 'runtime' && credentials.key.reveal() === this.key.reveal();
      if (!known) throw new SvcError('unauthenticated', 'There is no such runtime.');
      return { kind: 'runtime', process, runtime, name: 'test', workspace: null };
    });
    this.backend.respond(patterns.handshake, async ({ payload, subject }) => {
      this.handshakes++;
      this.#wake();
      const [, , , , process] = subject.split('.');
      this.#process = process as ProcessId;
      if (this.#isHanging) await forever;
      const reply = await this.#shakeHands(payload);
      this.#wake();
      return { payload: toBody(reply), headers: {} };
    });
    this.backend.respond(patterns.report, async ({ payload }) => {
      if (this.#isHanging) await forever;
      if (this.revoked) throw new SvcError('unauthenticated', 'This runtime was revoked.');
      if (this.refuseReports > 0) {
        this.refuseReports--;
        throw new SvcError('unavailable', 'Not now.');
      }
      this.#hearReport(payload);
      return { payload: toBody({ refused: [] }), headers: {} };
    });
    this.backend.subscribe(patterns.heartbeat, ({ payload }) => {
      this.heartbeats.push(heartbeat.parse(JSON.parse(Buffer.from(payload).toString())));
      this.#wake();
    });
  }

  /** The backend stops answering, and a request is already open. */
  async hang(): Promise<void> {
    this.#isHanging = true;
    const asked = this.handshakes;
    this.command({ kind: 'assignments' });
    await this.until(() => (this.handshakes > asked ? true : null));
  }

  /** Starts a runtime on this bus; it is stopped with the platform. */
  async startRuntime(
    env: Readonly<Record<string, string>> = {},
    watch: Watch = {},
    hub: Hub | null = this.hub,
  ): Promise<RunningService> {
    const log = { write: (line: string) => void this.logged.push(line) };
    const given = { PATH: process.env.PATH, ...env };
    const own = { RUNTIME_KEY: this.key.reveal(), BUS_SERVERS: 'inproc:', SVC_WORKING_DIR: this.workingDir };
    const running = await startRuntime(
      { ...own, ...given },
      { hub, version: '1.2.3', log, drainMs: this.drainMs },
      watch,
    );
    this.#stack.defer(() => running.stop());
    return running;
  }

  /**
   * Assigns these MCP servers and no others. A name keeps its id; another launch, or another author, is another
   * version.
   */
  assign(launches: Readonly<Record<string, Launch>>, setBy?: Author): void {
    this.#assigned = Object.entries(launches).map(([name, launch]) => {
      const before = this.#assigned.find((assignment) => assignment.name === name);
      const same =
        before !== undefined &&
        'launch' in before &&
        JSON.stringify([before.launch, before.setBy]) === JSON.stringify([launch, setBy]);
      if (same) return before;
      const mcpServer = this.#ids.get(name) ?? newId('mcpServer');
      this.#ids.set(name, mcpServer);
      const workspace = this.workspace ?? newId('workspace');
      return { mcpServer, workspace, name, configVersion: this.#version++, launch, setBy };
    });
    this.command({ kind: 'assignments' });
  }

  /** Renews the token of an MCP server; the configuration stays the same. */
  authorize(name: string, authorization: string): void {
    this.#assigned = this.#assigned.map((one) => (one.name === name ? { ...one, authorization } : one));
    this.command({ kind: 'assignments' });
  }

  /** Removes it for good. */
  remove(name: string): void {
    this.#removed.add(this.idOf(name));
    this.#assigned = this.#assigned.filter((one) => one.name !== name);
    this.command({ kind: 'assignments' });
  }

  /** Refuses the same configuration; the returned function allows it again. */
  refuse(name: string, refused: Reason): () => void {
    const before = this.#assigned;
    this.#assigned = before.map((one) => {
      const { mcpServer, workspace, configVersion } = one;
      return one.name === name ? { mcpServer, workspace, name, configVersion, refused } : one;
    });
    this.command({ kind: 'assignments' });
    return () => {
      this.#assigned = before;
      this.command({ kind: 'assignments' });
    };
  }

  command(command: unknown): void {
    if (this.#process !== null) this.backend.publish(subjects.command(this.runtime, this.#process), toBody(command));
  }

  idOf(name: string): McpServerId {
    const found = this.#ids.get(name);
    if (found === undefined) throw new Error(`${name} was never assigned`);
    return found;
  }

  /** Waits for a report in which this is true of the MCP server. */
  async reported(name: string, isTrue: (report: Reported) => boolean): Promise<Reported> {
    const mcpServer = this.idOf(name);
    return this.until(() => {
      const report = this.#reported.get(mcpServer);
      return report !== undefined && isTrue(report) ? report : null;
    });
  }

  connected(name: string): Promise<Reported> {
    return this.reported(name, ({ status }) => status === 'Connected');
  }

  /** Acts as a backend that has just started, without any reports. */
  forget(): void {
    this.#reported.clear();
  }

  isReported(mcpServer: McpServerId): boolean {
    return this.#reported.has(mcpServer);
  }

  /** Waits until a message on the bus makes this true. */
  async until<Value>(find: () => Value | null): Promise<Value> {
    for (;;) {
      const value = find();
      if (value !== null) return value;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Calls a tool as remote-mcp would. */
  async callTool(
    name: string,
    tool: string,
    given: unknown = {},
    options: Partial<RequestOptions> = {},
  ): Promise<unknown> {
    const params = JSON.stringify({ name: tool, arguments: given });
    return JSON.parse(Buffer.from((await this.ask(name, 'tools/call', params, options)).payload).toString());
  }

  /** The text of a tool's answer. */
  async say(name: string, given: unknown, tool = 'echo'): Promise<string> {
    const result = (await this.callTool(name, tool, given)) as { content: [{ text: string }] };
    return result.content[0].text;
  }

  /** Throws the runtime's refusal of the call. */
  async ask(name: string, method: string, params: string, options: Partial<RequestOptions> = {}): Promise<Reply> {
    if (this.#process === null) throw new Error('no runtime has introduced itself');
    const headers = {
      [callHeader.server]: this.idOf(name),
      [callHeader.method]: method,
      [callHeader.session]: 'session',
      [callHeader.key]: newId('key'),
      [callHeader.request]: 'request',
      ...options.headers,
    };
    const subject = subjects.call(this.runtime, this.#process);
    const reply = await this.remoteMcp.request(subject, Buffer.from(params), {
      timeoutMs: 10_000,
      ...options,
      headers,
    });
    if (reply.headers[callHeader.kind] !== callReplyKinds.refused) return reply;
    throw CallRefused.because(errorFromBus(JSON.parse(Buffer.from(reply.payload).toString())));
  }

  /** Log lines of the runtime under a name. */
  logOf(name: string): readonly Record<string, unknown>[] {
    return this.logged.map((line) => JSON.parse(line)).filter((line) => line.name === name);
  }

  async #shakeHands(payload: Uint8Array): Promise<HandshakeReply> {
    if (this.revoked) throw new SvcError('unauthenticated', 'This runtime was revoked.');
    const { etag: known, homes, publicKey } = handshakeRequest.parse(JSON.parse(Buffer.from(payload).toString()));
    this.asked = homes ?? [];
    const removed = this.asked.filter((id) => this.#removed.has(id));
    const told = this.#assigned.map((one) => [one.mcpServer, one.configVersion, 'refused' in one || one.authorization]);
    const etag = JSON.stringify(told);
    const tag = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(etag))).toString('hex');
    const mcpUrl = 'http://127.0.0.1:1/mcp';
    if (known === tag) return { mcpUrl, etag: tag, removed };
    const sealed = await new CompactEncrypt(Buffer.from(JSON.stringify(this.#assigned)))
      .setProtectedHeader({ alg: algorithm, enc: 'A256GCM' })
      .encrypt(
        this.sealToSomebodyElse
          ? (await generateKeyPair(algorithm, curve)).publicKey
          : await importJWK(publicKey, algorithm),
      );
    return { mcpUrl, etag: tag, sealed, removed };
  }

  #hearReport(payload: Uint8Array): void {
    for (const part of readReport(payload, 100)) {
      if (part.kind === 'tools') {
        if (part.refused.length > 0) throw new Error(`malformed: ${JSON.stringify(part.refused)}`);
        const before = this.#reported.get(part.mcpServer);
        if (before !== undefined)
          this.#reported.set(part.mcpServer, { ...before, tools: [...before.tools, ...part.tools] });
        continue;
      }
      const { complete, mcpServers, refused, refusedLists } = part.report;
      // A backend of an earlier version rejects the whole report.
      if (refused.length + refusedLists.size > 0) throw new Error(`malformed: ${JSON.stringify(refused)}`);
      const named = mcpServers.map(({ mcpServer }) => mcpServer);
      this.reports.push({ complete, mcpServers: named });
      if (complete) for (const id of [...this.#reported.keys()]) if (!named.includes(id)) this.#reported.delete(id);
      for (const { tools, ...said } of mcpServers) {
        const kept = tools === undefined ? (this.#reported.get(said.mcpServer)?.tools ?? []) : [];
        this.#reported.set(said.mcpServer, { ...said, tools: kept });
      }
    }
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

const forever = new Promise<never>(() => undefined);
const algorithm = 'ECDH-ES+A256KW';
const curve = { crv: 'X25519' };

/** One of the scripts in `children/`, run by this Node. */
export function script(name: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const file = path.join(import.meta.dirname, 'children', `${name}.mjs`);
  return { kind: 'child' as const, command: process.execPath, args: [file, ...args], cwd: null, env: { ...env } };
}

function toBody(body: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(body));
}
