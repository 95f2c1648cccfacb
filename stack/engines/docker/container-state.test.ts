import Docker from 'dockerode';
import { expect, test } from 'vitest';
import { becomesReady } from './container-state.ts';

const docker = new Docker({ socketPath: '/nowhere/docker.sock', host: undefined, protocol: 'http' });

test('whoever waits for what does not get ready is heard when he gives up', async () => {
  const waiting = { timeoutMs: 60_000, signal: AbortSignal.timeout(50) };
  await expect(becomesReady(docker, 'one', ['check'], waiting)).rejects.toThrow(/aborted/);
});

test('what does not get ready in time is not ready', async () => {
  const { signal } = new AbortController();
  expect(await becomesReady(docker, 'one', ['check'], { timeoutMs: 50, signal })).toBe(false);
});
