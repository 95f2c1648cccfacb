import { afterEach, beforeEach, expect, test } from 'vitest';
import { type UsageRecord, usageCallsMax } from '../../contracts/bus/messages.ts';
import { patterns, streams, subjects } from '../../contracts/bus/subjects.ts';
import { type KeyId, newId, newProcessId, type WorkspaceId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import type { Bus, Subscription } from '../../kit/bus/bus.ts';
import { toBody } from '../bus/wire.ts';
import { createKey } from '../keys/create-key.ts';
import { type LastUsed, openLastUsed } from '../keys/last-used.ts';
import { registerSystemKey } from '../keys/system-keys.ts';
import { createAuthorizer } from '../runtimes/authorize.ts';
import { addWorkspace, openTestBackend, operator, type TestBackend } from '../test/open-test-backend.ts';
import { consumeUsage } from './consume-usage.ts';

/** The machine may be busy with other work. */
const patiently = { timeout: 10_000 };

let backend: TestBackend;
let remoteMcp: Bus;
let lastUsed: LastUsed;
let consuming: Subscription;
let workspace: WorkspaceId;
let key: KeyId;

beforeEach(async () => {
  backend = await openTestBackend();
  backend.bus.authorize(createAuthorizer(backend));
  const systemKey = newKey('system');
  await registerSystemKey(backend, operator, { component: 'remote-mcp', key: systemKey.reveal() });
  const credentials = { kind: 'system', key: systemKey, component: 'remote-mcp' } as const;
  remoteMcp = await backend.hub.connect(credentials, newProcessId());
  const { id, owner } = await addWorkspace(backend, 'acme');
  workspace = id;
  key = (await createKey(backend, { principal: owner, workspace }, { name: 'laptop' })).key.id;
  lastUsed = openLastUsed(backend, 0);
  consuming = consumeUsage(backend, lastUsed);
});
afterEach(async () => {
  await consuming.stop();
  await lastUsed.stop();
  await backend.close();
});

const tool = newId('tool');
const mcpServer = newId('mcpServer');
const skill = newId('skill');
const hour = Date.parse('2026-01-01T10:00:00Z');

function call(at: number, durationMs: number, more: Partial<NonNullable<UsageRecord['call']>> = {}): UsageRecord {
  return { workspace, key, at, call: { mcpServer, tool, skill, outcome: 'ok', calls: 1, durationMs, ...more } };
}

async function send(records: readonly UsageRecord[]): Promise<void> {
  await remoteMcp.stream(streams.usage).append(toBody(records));
}

async function rows() {
  const { nodes } = await backend.graph.select({ type: 'usage', anchor: workspace, orderBy: 'hour', limit: 100 });
  return nodes.map(({ calls, errors, durationMs, ...row }) => ({
    hour: row.hour,
    skill: row.skill,
    calls,
    errors,
    durationMs,
  }));
}

const total = async () => (await rows()).reduce((sum, { calls }) => sum + calls, 0);
const lastUse = async () => (await backend.graph.find('key', key, workspace))?.lastUsedAt;

test('calls are summed by hour, key, tool and skill', async () => {
  await send([
    call(hour, 10.4),
    call(hour + 1, 20.4, { outcome: 'tool_error' }),
    call(hour + 2, 1, { outcome: 'error' }),
    call(hour + 3, 1, { skill: null }),
    call(hour + 3_600_000, 5),
  ]);
  await send([call(hour + 3_599_999, 2)]);
  await expect.poll(total, patiently).toBe(6);
  expect(await rows()).toEqual(
    expect.arrayContaining([
      { hour, skill, calls: 4, errors: 2, durationMs: 34 },
      { hour, skill: null, calls: 1, errors: 0, durationMs: 1 },
      { hour: hour + 3_600_000, skill, calls: 1, errors: 0, durationMs: 5 },
    ]),
  );
});

test('calls of a workspace that is gone are dropped, and those of others are summed', async () => {
  const gone = newId('workspace');
  const closed = (await addWorkspace(backend, 'closed')).id;
  await backend.graph.write((transaction) =>
    transaction.update('workspace', closed, { name: closed }, { anchor: null }),
  );
  await send([{ ...call(hour, 1), workspace: gone }, { ...call(hour, 1), workspace: closed }, call(hour, 1)]);
  await expect.poll(total, patiently).toBe(1);
  expect(await backend.graph.count({ type: 'usage', anchor: 'everywhere', limit: 1 })).toBe(1);
});

test('a record may stand for several calls, and one without a count stands for one', async () => {
  await send([call(hour, 30, { calls: 3 }), call(hour, 8, { calls: 2, outcome: 'error' })]);
  const { calls, ...withoutCount } = call(hour, 2).call ?? {};
  await remoteMcp.stream(streams.usage).append(toBody([{ ...call(hour, 2), call: withoutCount }]));
  await expect.poll(total, patiently).toBe(6);
  expect(await rows()).toEqual([{ hour, skill, calls: 6, errors: 2, durationMs: 40 }]);
});

test.each([0, -1, 1.5, usageCallsMax + 1])('a record that stands for %d calls is refused', async (calls) => {
  await send([call(hour, 1, { calls })]);
  await send([call(hour, 1)]);
  await expect.poll(total, patiently).toBe(1);
  expect(backend.logged.filter((line) => line.includes('usage records dropped'))).toHaveLength(1);
});

test('uses of a key are stored, with a call or without', async () => {
  await send([call(hour, 1), { workspace, key, at: hour + 500 }, { workspace, key, at: hour + 100 }]);
  await expect.poll(lastUse, patiently).toBe(hour + 500);
  await send([{ workspace, key, at: hour + 900 }]);
  await expect.poll(lastUse, patiently).toBe(hour + 900);
  expect(await total()).toBe(1);
});

test('counted calls are told to open pages, once, and to none of another workspace', async () => {
  const told: string[] = [];
  const stop = backend.bus.subscribe(patterns.events, ({ subject }) => void told.push(subject));
  const { id: other } = await addWorkspace(backend, 'other');
  told.length = 0;
  const payload = toBody([call(hour, 1), call(hour, 2), { workspace: other, key, at: hour }]);
  await remoteMcp.stream(streams.usage).append(payload);
  await remoteMcp.stream(streams.usage).append(payload);
  await send([call(hour + 1, 1)]);
  await expect.poll(total, patiently).toBe(3);
  await expect
    .poll(() => told, patiently)
    .toEqual([subjects.event(workspace, 'calls'), subjects.event(workspace, 'calls')]);
  await stop.stop();
});

test('a record that is delivered twice counts once', async () => {
  const payload = toBody([call(hour, 1), call(hour, 2)]);
  const stream = remoteMcp.stream(streams.usage);
  await stream.append(payload);
  await expect.poll(total, patiently).toBe(2);
  // As after a crash between storing and acknowledging: the same record comes again, then a new one.
  await stream.append(payload);
  await send([call(hour + 1, 1)]);
  await expect.poll(total, patiently).toBe(3);
});

test('a partly stored delivery is neither lost nor repeated', async () => {
  await consuming.stop();
  const payloads = [[call(hour, 1)], [call(hour, 2)], [call(hour, 3)]].map(toBody);
  const stream = remoteMcp.stream(streams.usage);
  for (const payload of payloads.slice(0, 2)) await stream.append(payload);
  consuming = consumeUsage(backend, lastUsed);
  await expect.poll(total, patiently).toBe(2);
  for (const payload of payloads) await stream.append(payload);
  await expect.poll(total, patiently).toBe(3);
});

test('an unreadable record is skipped and logged', async () => {
  await remoteMcp.stream(streams.usage).append(new TextEncoder().encode('{'));
  await remoteMcp.stream(streams.usage).append(toBody([{ workspace, key }]));
  await send([call(hour, 1)]);
  await expect.poll(total, patiently).toBe(1);
  expect(backend.logged.filter((line) => line.includes('usage records dropped'))).toHaveLength(2);
});
