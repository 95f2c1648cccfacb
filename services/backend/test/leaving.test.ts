import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { frontLooksEveryMs } from '../../contracts/drain.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { startTestBackend } from './start-test-backend.ts';

/** Asks over kept-alive connections, as a proxy does. */
function ask(agent: Agent, url: string, token?: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const how = token === undefined ? { agent } : { agent, method: 'POST', headers };
    const sent = request(url, how, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject);
    sent.end(token === undefined ? undefined : JSON.stringify({ query: '{ viewer { name } }' }));
  });
}

test('a stopping backend announces it first, and a proxy that follows it loses no request', {
  timeout: 60_000,
}, async () => {
  const backend = await startTestBackend();
  const token = await backend.operatorToken();
  const agent = new Agent({ keepAlive: true });
  const statuses: number[] = [];
  let last: { status: number; body: string } | null = null;
  const front = (async () => {
    for (;;) {
      last = await ask(agent, `${backend.url}/ready`);
      if (last.status !== 200) return;
      for (let turn = 0; turn < 5; turn++) {
        statuses.push((await ask(agent, `${backend.url}${graphqlPath}`, token)).status);
        await pause(frontLooksEveryMs / 10);
      }
    }
  })();
  await expect.poll(() => statuses.length, { timeout: 20_000 }).toBeGreaterThan(10);
  await backend.stop();
  await front;
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(last).toEqual({
    status: 503,
    body: '{"status":"not ready","checks":{"graph":"ok","bus":"ok","backend":"is stopping"}}',
  });
  agent.destroy();
});
