import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { openSession, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { misbehaving } from './foreign-servers.ts';
import { Platform, startTimeoutMs } from './platform.ts';

vi.setConfig({ testTimeout: startTimeoutMs });

test('right after svc up, an MCP server that takes two seconds to start has its tools listed, and its calls wait', async () => {
  await using platform = await Platform.start();
  const { skill, delayNextStarts } = await addSlowServer(platform);
  const agent = await platform.connect(await platform.addKey('agent'), `?skillIds=${skill}`);
  expect(await agent.text('echo', { text: 'once' })).toBe('once');
  await platform.svc('down');
  delayNextStarts(2000);
  await platform.svc('up');
  // Both at once: what is listed is what can be called.
  const [names, said] = await Promise.all([agent.listToolNames(), agent.text('echo', { text: 'again' })]);
  expect(names).toContain('echo');
  expect(said).toBe('again');
  const { mcpServers } = await platform.svc('server', 'list');
  expect(mcpServers).toMatchObject([{ status: 'Connected', restarts: 0 }]);
});

test('who calls again and again until the address is back is not shown a platform that is half there', async () => {
  await using platform = await Platform.start();
  const { skill } = await addSlowServer(platform);
  const key = await platform.addKey('agent');
  const url = `${platform.mcpUrl}?skillIds=${skill}`;
  const session = await openSession(url, key);
  const body = rpc('tools/call', { name: 'echo', arguments: { text: 'again' } });
  const firstAnswer = async () => {
    for (;;) {
      const answer = await send(url, { key, session, body }).catch(() => null);
      if (answer !== null) return answer;
      await pause(5);
    }
  };
  await platform.svc('down');
  const [answer] = await Promise.all([firstAnswer(), platform.svc('up')]);
  expect([answer.status, answer.body.result]).toEqual([200, { content: [{ type: 'text', text: 'again' }] }]);
});

/** An MCP server that starts as slowly as it is told, at once to begin with, and a skill that has its `echo`. */
async function addSlowServer(platform: Platform) {
  const delay = join(platform.folder, 'delay');
  const delayNextStarts = (ms: number) => writeFileSync(delay, String(ms));
  delayNextStarts(0);
  await platform.addServer('slow', [...misbehaving('slow-start'), delay]);
  const skill = await platform.addSkill('all', ['slow/echo']);
  await platform.addRole('All', ['all']);
  return { skill, delayNextStarts };
}
