import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { graphqlPath } from '../../contracts/token.ts';
import { Browser } from './browser.ts';
import { startTestBackend } from './start-test-backend.ts';

const attackers = 32;
const password = 'correct horse battery';

test('a flood of wrong passwords delays neither requests nor the sign-in of a person elsewhere', async () => {
  const backend = await startTestBackend({ TRUSTED_PROXIES: '127.0.0.1' });
  await backend.must('mutation { createWorkspace(input: { name: "Acme", ownerEmail: "ann@example.com" }) { id } }');
  const { createSignInLink } = await backend.must('mutation { createSignInLink(email: "ann@example.com") { url } }');
  const ann = new Browser(backend.url, { 'x-forwarded-for': '192.0.2.1' });
  await ann.post('/account/link', { token: new URL(createSignInLink.url).hash.slice('#token='.length) });
  await ann.post(graphqlPath, { query: `mutation { setPassword(password: "${password}") { id } }` });

  const statuses = new Map<number, number>();
  const stopping = new AbortController();
  const attack = async (index: number) => {
    const browser = new Browser(backend.url, { 'x-forwarded-for': '203.0.113.1' });
    for (let i = 0; !stopping.signal.aborted; i++) {
      const email = i % 2 === 0 ? 'ann@example.com' : `nobody-${index}-${i}@example.com`;
      const { status } = await browser.post('/account/password', { email, password: 'wrong horse battery' });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await pause(20);
    }
  };
  const attacks = Array.from({ length: attackers }, (_, index) => attack(index));
  await pause(300);
  const timed = async (work: () => Promise<{ status: number }>) => {
    const since = performance.now();
    const { status } = await work();
    expect(status).toBe(200);
    return performance.now() - since;
  };
  const queryMs: number[] = [];
  for (let i = 0; i < 50; i++) queryMs.push(await timed(() => ann.post(graphqlPath, { query: '{ viewer { id } }' })));
  const signInMs: number[] = [];
  for (let i = 0; i < 3; i++) {
    const browser = new Browser(backend.url, { 'x-forwarded-for': '192.0.2.1' });
    signInMs.push(await timed(() => browser.post('/account/password', { email: 'ann@example.com', password })));
  }
  stopping.abort();
  await Promise.all(attacks);
  await backend.stop();
  const median = (all: readonly number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
  expect(statuses.get(429)).toBeGreaterThan(50);
  expect([...statuses.keys()].sort()).toEqual([401, 429]);
  expect(median(queryMs)).toBeLessThan(100);
  // Its own verification, after one of the flood.
  expect(median(signInMs)).toBeLessThan(2000);
}, 60_000);
