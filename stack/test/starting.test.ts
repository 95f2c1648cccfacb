import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSession, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { Platform, startTimeoutMs } from './platform.ts';

test('a client that calls until the address is back reaches no partly started platform', {
  timeout: startTimeoutMs,
}, async () => {
  await using platform = await Platform.start();
  const url = `${platform.mcpUrl}?skillIds=${await platform.addEcho()}`;
  const key = await platform.addKey('agent');
  const session = await openSession(url, key);
  const body = rpc('tools/call', { name: 'echo', arguments: { message: 'again' } });
  const firstAnswer = async () => {
    for (;;) {
      const answer = await send(url, { key, session, body }).catch(() => null);
      if (answer !== null) return answer;
      await pause(5);
    }
  };
  await platform.svc('down');
  const [answer] = await Promise.all([firstAnswer(), platform.svc('up')]);
  expect([answer.status, answer.body.result?.content]).toEqual([200, [{ type: 'text', text: 'Echo: again' }]]);
});
