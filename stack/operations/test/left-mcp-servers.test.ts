import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endLeftMcpServers } from '../../engines/process/stop.ts';
import { installationIn } from '../../state/installation.ts';
import { leaveMcpServer } from './left-mcp-server.ts';

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'svc-left-')));
const installation = installationIn(dir);
afterAll(() => rmSync(dir, { recursive: true }));

test('those of every runtime that ever ran here are ended, or those of the ones that are meant', async () => {
  // An installation that never ran has no MCP servers.
  expect(await endLeftMcpServers(installation)).toBe(0);
  await using first = await leaveMcpServer(installation, 'runtime');
  await using second = await leaveMcpServer(installation, 'runtime-2');
  await using twelfth = await leaveMcpServer(installation, 'runtime-12');
  await using foreign = await leaveMcpServer(installation, 'runtime-old');
  expect(await endLeftMcpServers(installation, (part) => part === 'runtime-2')).toBe(1);
  await second.ended;
  expect([first.isAlive(), twelfth.isAlive()]).toEqual([true, true]);
  expect(await endLeftMcpServers(installation)).toBe(2);
  await Promise.all([first.ended, twelfth.ended]);
  expect(foreign.isAlive()).toBe(true);
  expect(await endLeftMcpServers(installation)).toBe(0);
});
