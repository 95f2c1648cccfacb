import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { openSession, ping, rpc, send } from '../../../services/remote-mcp/test/raw.ts';
import { Platform, startTimeoutMs } from '../platform.ts';

/**
 * installation.tar.gz holds a folder "svc" of version 0.1.0 (November 2026), stopped by `svc down`: database files,
 * this test's keys and secrets, an agent's session. Later versions must open it, so it is never made anew.
 */
const here = import.meta.dirname;
const known = z
  .object({
    key: z.string(),
    revokedKey: z.string(),
    session: z.string(),
    secret: z.string(),
    lists: z.record(z.string(), z.record(z.string(), z.unknown())),
  })
  .parse(JSON.parse(readFileSync(join(here, 'installation.json'), 'utf8')));

vi.setConfig({ testTimeout: 30_000 });

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.init({ archive: join(here, 'installation.tar.gz') });
  keepSessions(join(platform.installation.dir, 'data', 'bus.sqlite'));
  await platform.svc('up');
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

/** A session ends after a long idle time, and a session of an archive has been idle for long. */
function keepSessions(file: string): void {
  const database = new DatabaseSync(file);
  const { changes } = database.prepare('UPDATE entry SET put_at = ?').run(Date.now());
  database.close();
  expect(changes).toBeGreaterThan(0);
}

test.each(Object.entries(known.lists))('svc %s prints the frozen output', async (command, list) => {
  const isSo = async () => expect(await platform.svc(...command.split(' '))).toMatchObject(list);
  // The installation's MCP server takes a moment to start.
  await vi.waitFor(isSo, { timeout: 20_000, interval: 500 });
});

test('a key lets its agent in, and a revoked key does not', async () => {
  expect((await send(platform.mcpUrl, { key: known.key, body: ping })).status).toBe(200);
  expect((await send(platform.mcpUrl, { key: known.revokedKey, body: ping })).status).toBe(401);
  expect((await platform.run(['keys', 'test'], { env: { SVC_API_KEY: known.key } })).code).toBe(0);
});

test('an agent continues its session', async () => {
  const { key, session } = known;
  const { status, body } = await send(platform.mcpUrl, { key, session, body: rpc('tools/list') });
  const names = body.result.tools.map(({ name }: { readonly name: string }) => name);
  expect([status, names]).toEqual([200, expect.arrayContaining(['list_skills', 'load_skill'])]);
});

test('a tool is called, and its MCP server has its secret', async () => {
  const session = await openSession(platform.mcpUrl, known.key);
  const params = { name: 'call_tool', arguments: { name: 'secret', arguments: {} } };
  const { body } = await send(platform.mcpUrl, { key: known.key, session, body: rpc('tools/call', params) });
  expect(JSON.stringify(body)).toContain(known.secret);
});
