import { callHeader, callReplyKinds } from '../../contracts/bus/call.ts';
import type { Heartbeat, Report, ReportedTool, ServerReport } from '../../contracts/bus/messages.ts';
import { reportLines } from '../../contracts/bus/report-lines.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { type McpServerId, newProcessId, type ProcessId, type RuntimeId } from '../../contracts/ids.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { Bus, Hub, Reply, Request } from '../../kit/bus/bus.ts';

/**
 * A runtime as the bus and remote-mcp see it: it sends heartbeats, reports MCP servers, and answers calls as each test
 * defines.
 */
export interface TestRuntime {
  readonly name: string;
  readonly bus: Bus;
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
  /** Calls in the order of their arrival. */
  readonly calls: readonly Call[];
  report(mcpServer: McpServerId, said?: Partial<ServerReport>, tools?: readonly ReportedTool[]): Promise<void>;
  /** Sets how further calls are answered. */
  answer(answerer: Answerer): void;
  /** Stops the heartbeats. The last one announces the next one soon. */
  stopBeating(): void;
  /** Stops answering, like a process whose end nobody has noticed yet. */
  stopAnswering(): Promise<void>;
  /** Sends one heartbeat, which announces the interval until the next. */
  beat(intervalMs: number): void;
  stop(): Promise<void>;
}

export interface Call {
  readonly mcpServer: string;
  readonly method: string;
  readonly session: string;
  readonly key: string;
  readonly request: string;
  readonly progress: string | undefined;
  readonly paramsText: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests check the shape themselves
  readonly params: any;
}

export type Answerer = (call: Call, request: Request) => Promise<Reply>;

/** The announced interval is longer than the real one, because a heartbeat may be late on a busy machine. */
const beatEveryMs = 100;
const promisedMs = 30_000;
/** The bench makes more calls than any test reads. */
const callsMax = 10_000;

export async function connectRuntime(hub: Hub, { key, name }: { key: Secret; name: string }): Promise<TestRuntime> {
  const credentials = { kind: 'system', key, component: 'runtime', runtimeName: name } as const;
  const bus = await hub.connect(credentials, newProcessId());
  if (bus.identity.kind !== 'runtime') throw new Error(`connected as ${bus.identity.kind}`);
  const { runtime, process } = bus.identity;
  const calls: Call[] = [];
  let answerer: Answerer = async (call) => result({ content: [{ type: 'text', text: JSON.stringify(call.params) }] });
  const answering = bus.respond(subjects.call(runtime, process), async (request) => {
    const call = callOf(request);
    if (calls.length < callsMax) calls.push(call);
    return await answerer(call, request);
  });
  const beat = (intervalMs: number) => {
    const body: Heartbeat = { at: Date.now(), inFlight: 0, intervalMs, version: '1' };
    bus.publish(subjects.heartbeat(runtime, process), toBody(body));
  };
  beat(promisedMs);
  const timer = setInterval(() => beat(promisedMs), beatEveryMs);
  bus.onConnection((state) => {
    if (state === 'disconnected') clearInterval(timer);
  });
  return {
    ...{ name, bus, runtime, process, calls },
    report: async (mcpServer, said = {}, tools) => {
      const server = { ...connected, mcpServer, ...said, ...(tools === undefined ? {} : { tools: tools.length }) };
      const report: Report = { complete: false, mcpServers: [server] };
      const body = Buffer.from([...reportLines(report, () => tools ?? [])].join('\n'));
      const { payload } = await bus.request(subjects.report(runtime, process), body, { timeoutMs: 30_000 });
      const { refused } = JSON.parse(Buffer.from(payload).toString());
      if (refused.length > 0) throw new Error(`refused: ${refused}`);
    },
    answer: (next) => {
      answerer = next;
    },
    stopAnswering: () => answering.stop(),
    stopBeating() {
      clearInterval(timer);
      beat(beatEveryMs);
    },
    beat,
    stop: async () => {
      clearInterval(timer);
      await bus.close();
    },
  };
}

const connected = {
  configVersion: 1,
  status: 'Connected' as const,
  health: 'green' as const,
  reason: null,
  restarts: 0,
  startedAt: 1,
  nextRetryAt: null,
  stderr: [],
};

export function result(value: unknown): Reply {
  return { payload: toBody(value), headers: { [callHeader.kind]: callReplyKinds.result } };
}

export function rpcError(value: unknown): Reply {
  return { payload: toBody(value), headers: { [callHeader.kind]: callReplyKinds.error } };
}

export function notify(request: Request, method: string, params: unknown): Promise<void> {
  const headers = { [callHeader.kind]: callReplyKinds.notification };
  return request.interim(toBody({ jsonrpc: '2.0', method, params }), headers);
}

export function tool(name: string, more: object = {}): ReportedTool {
  const definition = { name, description: `the tool ${name}`, inputSchema: { type: 'object' }, ...more };
  return { name, definition: JSON.stringify(definition) };
}

function callOf({ headers, payload }: Request): Call {
  const paramsText = Buffer.from(payload).toString();
  return {
    mcpServer: headers[callHeader.server] ?? '',
    method: headers[callHeader.method] ?? '',
    session: headers[callHeader.session] ?? '',
    key: headers[callHeader.key] ?? '',
    request: headers[callHeader.request] ?? '',
    progress: headers[callHeader.progress],
    paramsText,
    params: JSON.parse(paramsText),
  };
}

function toBody(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
