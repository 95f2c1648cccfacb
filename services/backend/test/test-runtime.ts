import { compactDecrypt, exportJWK, generateKeyPair } from 'jose';
import {
  type Assigned,
  assignments,
  type HandshakeRequest,
  type Heartbeat,
  handshakeReply,
  type ReportedTool,
  type ReportReply,
  reportReply,
  type ServerReport,
} from '../../contracts/bus/messages.ts';
import { reportLines } from '../../contracts/bus/report-lines.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { type McpServerId, newProcessId, type ProcessId, type RuntimeId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { type Bus, type Credentials, payloadMaxBytes } from '../../kit/bus/bus.ts';
import { parseBody, toBody } from '../bus/wire.ts';
import { registerSystemKey } from '../keys/system-keys.ts';
import { operator, type TestBackend } from './open-test-backend.ts';
import type { TestBackend as StartedBackend } from './start-test-backend.ts';

/** A runtime's process as the backend sees it: its connection and its messages. */
export interface TestRuntime {
  readonly bus: Bus;
  readonly runtime: RuntimeId;
  readonly process: ProcessId;
  shakeHands(etag?: string, publicKey?: HandshakeRequest['publicKey'], said?: SaidOfItself): Promise<Handshake>;
  /** Returns those of the kept homes whose MCP servers no longer exist. */
  askRemoved(homes: readonly McpServerId[]): Promise<readonly McpServerId[]>;
  beat(intervalMs: number, sandbox?: string): void;
  report(said: readonly TestServerReport[], complete?: boolean): Promise<ReportReply>;
}

export interface Handshake {
  readonly etag: string;
  readonly mcpUrl: string;
  /** Null when the etag was current. */
  readonly assignments: readonly Assigned[] | null;
  /** The text as sent over the bus. */
  readonly text: string;
}

export type SaidOfItself = Pick<HandshakeRequest, 'sandbox' | 'confinesMembers'>;

export type TestServerReport = Partial<Omit<ServerReport, 'tools'>> & {
  readonly mcpServer: McpServerId;
  readonly tools?: readonly ReportedTool[];
};

const timeoutMs = 30_000;

/** Connects as the platform's runtime with that name. */
export async function connectPlatformRuntime(backend: TestBackend, runtimeName: string): Promise<TestRuntime> {
  const key = newKey('system');
  await registerSystemKey(backend, operator, {
    component: 'runtime',
    key: key.reveal(),
    runtimeNames: [runtimeName],
  });
  return await connectRuntime(backend, { kind: 'system', key, component: 'runtime', runtimeName });
}

/** The runtime of the platform, with a system key that it registers. */
export async function connectCloudRuntime(backend: Pick<StartedBackend, 'must' | 'hub'>): Promise<TestRuntime> {
  const key = newKey('system');
  await backend.must(
    'mutation ($key: String!) { registerSystemKey(input: { component: "runtime", key: $key, runtimeNames: ["cloud"] }) }',
    { key: key.reveal() },
  );
  return await connectRuntime(backend, { kind: 'system', key, component: 'runtime', runtimeName: 'cloud' });
}

export async function connectRuntime(
  backend: Pick<TestBackend, 'hub'>,
  credentials: Credentials,
): Promise<TestRuntime> {
  const bus = await backend.hub.connect(credentials, newProcessId());
  if (bus.identity.kind !== 'runtime') throw new Error(`connected as ${bus.identity.kind}`);
  const { runtime, process } = bus.identity;
  const keys = await generateKeyPair('ECDH-ES+A256KW', { crv: 'X25519' });
  const { x = '' } = await exportJWK(keys.publicKey);
  return {
    ...{ bus, runtime, process },
    async shakeHands(etag, publicKey = { kty: 'OKP', crv: 'X25519', x }, said = { confinesMembers: true }) {
      const known = etag ? { etag } : {};
      const request: HandshakeRequest = { version: '1', ...said, publicKey, ...known };
      const { payload } = await bus.request(subjects.handshake(runtime, process), toBody(request), { timeoutMs });
      const reply = parseBody(handshakeReply, payload, payloadMaxBytes);
      const opened = reply.sealed === undefined ? null : await compactDecrypt(reply.sealed, keys.privateKey);
      return {
        ...{ etag: reply.etag, mcpUrl: reply.mcpUrl },
        assignments: opened === null ? null : parseBody(assignments, opened.plaintext, payloadMaxBytes),
        text: new TextDecoder().decode(payload),
      };
    },
    async askRemoved(homes) {
      const request = { version: '1', publicKey: { kty: 'OKP', crv: 'X25519', x }, homes };
      const { payload } = await bus.request(subjects.handshake(runtime, process), toBody(request), { timeoutMs });
      return parseBody(handshakeReply, payload, payloadMaxBytes).removed ?? [];
    },
    beat(intervalMs, sandbox) {
      const beat: Heartbeat = { at: Date.now(), inFlight: 0, intervalMs, version: '1', sandbox };
      bus.publish(subjects.heartbeat(runtime, process), toBody(beat));
    },
    async report(said, complete = false) {
      const tools = new Map(said.map((one) => [one.mcpServer, one.tools ?? []]));
      const lines = [...reportLines({ complete, mcpServers: said.map(reportOf) }, (id) => tools.get(id) ?? [])];
      const body = new TextEncoder().encode(lines.join('\n'));
      const { payload } = await bus.request(subjects.report(runtime, process), body, { timeoutMs });
      return parseBody(reportReply, payload, payloadMaxBytes);
    },
  };
}

function reportOf({ tools, ...said }: TestServerReport): ServerReport {
  return {
    ...{ configVersion: 1, status: 'Connected', health: 'green', reason: null, restarts: 0 },
    ...{ startedAt: 1, nextRetryAt: null, stderr: [] },
    ...said,
    ...(tools === undefined ? {} : { tools: tools.length }),
  };
}

export function toolNamed(name: string, description = 'a tool'): ReportedTool {
  return { name, definition: JSON.stringify({ name, description, inputSchema: { type: 'object' } }) };
}
