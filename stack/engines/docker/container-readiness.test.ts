import Docker from 'dockerode';
import { expect, test } from 'vitest';
import { SvcError } from '../../../services/contracts/errors.ts';
import { becomesReady, notReady } from './container-readiness.ts';
import { containerOf, plannedFrom } from './test/planned.ts';

const docker = new Docker({ socketPath: '/nowhere/docker.sock', host: undefined, protocol: 'http' });

test('a wait for a container ends when the signal aborts', async () => {
  const waiting = { timeoutMs: 60_000, signal: AbortSignal.timeout(50) };
  await expect(becomesReady(docker, 'one', ['check'], waiting)).rejects.toThrow(/aborted/);
});

test('a container that is late is not ready', async () => {
  const { signal } = new AbortController();
  expect(await becomesReady(docker, 'one', ['check'], { timeoutMs: 50, signal })).toBe(false);
});

test.each([
  [new SvcError('unavailable', 'Docker does not run.', { hint: 'Start it.' }), 'Docker does not run', 'Start it.'],
  [new SvcError('timeout', 'it was late'), 'it was late', 'Read its log: svc logs backend'],
])('the hint of the cause is kept; without one it names the log: %s', async (cause, why, hint) => {
  const { code } = cause;
  const message = `backend failed to get ready: ${why}.`;
  expect(await notReady(containerOf(plannedFrom(), 'backend'), cause, docker)).toMatchObject({ code, message, hint });
});
