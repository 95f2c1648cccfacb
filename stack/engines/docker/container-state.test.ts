import Docker from 'dockerode';
import { expect, test } from 'vitest';
import { becomesReady } from './container-state.ts';

const docker = new Docker({ socketPath: '/nowhere/docker.sock', host: undefined, protocol: 'http' });

test('a wait for a container ends when the signal aborts', async () => {
  const waiting = { timeoutMs: 60_000, signal: AbortSignal.timeout(50) };
  await expect(becomesReady(docker, 'one', ['check'], waiting)).rejects.toThrow(/aborted/);
});

test('a container that is late is not ready', async () => {
  const { signal } = new AbortController();
  expect(await becomesReady(docker, 'one', ['check'], { timeoutMs: 50, signal })).toBe(false);
});
