import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import {
  handshakeRequest,
  heartbeat,
  keyRequest,
  type ServerReport,
  usageBatch,
} from '../../contracts/bus/messages.ts';
import { readReport, reportLines } from '../../contracts/bus/report-lines.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { type McpServerId, newId, type WorkspaceId } from '../../contracts/ids.ts';
import { payloadMaxBytes, type Subscription } from '../../kit/bus/bus.ts';
import { Fuzz } from '../../kit/test/fuzz.ts';
import { parseBody } from '../bus/wire.ts';
import { registerRuntime } from '../runtimes/register-runtime.ts';
import { startRuntimes } from '../runtimes/start-runtimes.ts';
import { createMcpServer } from '../servers/change-servers.ts';
import { stateOf } from '../servers/status.ts';
import { addWorkspace, openTestBackend, type TestBackend } from './open-test-backend.ts';
import { connectPlatformRuntime, connectRuntime, type TestRuntime, toolNamed } from './test-runtime.ts';

/** Nearly valid bodies: each is accepted or refused as invalid. A failure prints the seed that repeats it. */
const fuzz = new Fuzz();
const roundsOfParsers = 3000;
/** A process may send this many at once, and not many more (kit/bus/senders.ts). */
const roundsOfReports = 40;

let backend: TestBackend;
let started: Subscription;
let cloud: TestRuntime;
let hostile: TestRuntime;
let victim: McpServerId;
let workspace: WorkspaceId;
let own: McpServerId;

beforeAll(async () => {
  backend = await openTestBackend();
  started = await startRuntimes(backend);
  cloud = await connectPlatformRuntime(backend, 'cloud');
  const one = await addWorkspace(backend, 'acme');
  workspace = one.id;
  const launch = { command: 'run' };
  victim = (await createMcpServer(backend, one.owner, one.id, { name: 'files', launch })).id;
  const other = await addWorkspace(backend, 'evil');
  const { secret } = await registerRuntime(backend, other.owner, { workspace: other.id, name: 'office' });
  own = (await createMcpServer(backend, other.owner, other.id, { name: 'own', launch, runtime: 'office' })).id;
  hostile = await connectRuntime(backend, { kind: 'runtime', key: secret });
});
afterAll(async () => {
  await started.stop();
  await backend.close();
});

const entry = (mcpServer: McpServerId, tools: number): ServerReport => ({
  ...{ mcpServer, configVersion: 1, status: 'Connected', health: 'green', restarts: 0, startedAt: 1, nextRetryAt: 2 },
  ...{ reason: { code: 'x', message: 'y', repair: 'z' }, stderr: ['one', 'two'], tools },
});

function reportBody(mcpServer: McpServerId): Buffer {
  const report = { complete: fuzz.index(2) === 0, mcpServers: [entry(mcpServer, 2), entry(newId('mcpServer'), 1)] };
  const lines = [
    ...reportLines(report, (id) => (id === mcpServer ? [toolNamed('a'), toolNamed('b')] : [toolNamed('c')])),
  ];
  if (fuzz.index(2) === 0) return fuzz.mutate(Buffer.from(lines.join('\n')));
  const at = fuzz.index(lines.length);
  const odd = JSON.stringify(fuzz.oddJson(JSON.parse(lines[at] ?? ''))) ?? '';
  return Buffer.from(lines.with(at, odd).join('\n'));
}

function expectInvalid(work: () => unknown, body: Uint8Array): void {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof SvcError && thrown.code === 'invalid_input') return;
    expect.fail(`SVC_FUZZ_SEED=${fuzz.seed}: ${thrown} over ${JSON.stringify(Buffer.from(body).toString())}`);
  }
}

const publicKey = { kty: 'OKP', crv: 'X25519', x: 'x'.repeat(43) };
const bodies: readonly (readonly [string, z.ZodType, unknown])[] = [
  ['handshake', handshakeRequest, { version: '1', sandbox: 'none', publicKey, homes: [newId('mcpServer')] }],
  ['heartbeat', heartbeat, { at: 1, inFlight: 0, intervalMs: 5000, version: '1', sandbox: 'none' }],
  ['key', keyRequest, { key: 'SVC_x' }],
  [
    'usage',
    usageBatch,
    [
      {
        ...{ workspace: newId('workspace'), key: newId('key'), at: 1 },
        call: { mcpServer: newId('mcpServer'), tool: newId('tool'), skill: null, outcome: 'ok', durationMs: 1 },
      },
    ],
  ],
];

test.each(bodies)('a body of %s is accepted or refused as invalid', (_name, schema, good) => {
  const text = Buffer.from(JSON.stringify(good));
  expect(parseBody(schema, text, payloadMaxBytes)).toBeTruthy();
  for (let round = 0; round < roundsOfParsers; round++) {
    const body = round % 2 === 0 ? fuzz.mutate(text) : Buffer.from(JSON.stringify(fuzz.oddJson(good)) ?? '');
    expectInvalid(() => parseBody(schema, body, payloadMaxBytes), body);
  }
});

test('a report is read or refused as invalid', () => {
  for (let round = 0; round < roundsOfParsers; round++) {
    const body = reportBody(newId('mcpServer'));
    expectInvalid(() => [...readReport(body, 1 + fuzz.index(3))], body);
  }
});

test('a valid report counts beside nearly valid reports', async () => {
  for (let round = 0; round < roundsOfReports; round++) {
    const body = reportBody(fuzz.index(4) === 0 ? victim : own);
    const subject = subjects.report(hostile.runtime, hostile.process);
    const [attack] = await Promise.allSettled([
      hostile.bus.request(subject, body, { timeoutMs: 10_000 }),
      cloud.report([{ mcpServer: victim, restarts: round, tools: [toolNamed(`read-${round % 3}`)] }]),
    ]);
    if (attack.status === 'rejected' && attack.reason.code !== 'invalid_input') {
      expect.fail(`SVC_FUZZ_SEED=${fuzz.seed}: ${attack.reason} over ${JSON.stringify(body.toString())}`);
    }
  }
  const server = await backend.graph.find('mcpServer', victim, workspace);
  const { nodes } = await backend.graph.select({ type: 'status', anchor: workspace, limit: 10 });
  if (server === null) throw new Error('no MCP server');
  expect(stateOf(server, nodes, [])).toMatchObject({
    status: 'Connected',
    reason: null,
    restarts: roundsOfReports - 1,
  });
  expect(nodes).toHaveLength(1);
  expect(backend.logged.filter((line) => line.includes('failed unexpectedly'))).toEqual([]);
});
