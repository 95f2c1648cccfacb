import { afterEach, beforeEach, expect, test } from 'vitest';
import { dockerRefusal, statusOf } from '../../../services/contracts/docker.ts';
import { connectTo } from './daemon.ts';
import { type FakeDaemon, startFakeDaemon } from './test/fake-daemon.ts';

/** Answers every other request with an error. */
let daemon: FakeDaemon;
beforeEach(async () => {
  daemon = await startFakeDaemon(({ url }, response) => {
    if (url === '/version') return response.end(JSON.stringify({ ApiVersion: '1.47' }));
    if (url === '/info') return response.end(JSON.stringify({ ID: 'one' }));
    if (url?.startsWith('/containers/hangs')) return response.destroy();
    response.writeHead(500, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ message: 'driver failed: out of addresses' }));
  });
});
afterEach(() => daemon[Symbol.asyncDispose]());

test('a daemon that stops between two requests is reported in words, with the repair', async () => {
  const { socket } = daemon;
  const { docker } = await connectTo({ socket, saidBy: 'DOCKER_HOST' });
  await expect(docker.getContainer('hangs').inspect()).rejects.toMatchObject({
    code: 'unavailable',
    message: `Docker at "${socket}" (DOCKER_HOST) gives an unexpected answer: the connection was closed by the other side.`,
    hint: 'Check its state: docker info.',
  });
  await daemon[Symbol.asyncDispose]();
  await expect(docker.listContainers()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^Docker (is not running: there is no socket|at) ".*docker\.sock"/),
  });
});

test('a refusal of the daemon keeps its status for callers, and has a general message otherwise', async () => {
  const { docker } = await connectTo({ socket: daemon.socket, saidBy: 'DOCKER_HOST' });
  const refused: unknown = await docker.listContainers().catch((error: unknown) => error);
  expect(statusOf(refused)).toBe(500);
  expect(dockerRefusal(refused)).toMatchObject({
    code: 'unavailable',
    message: 'Docker refused the request: driver failed: out of addresses.',
  });
  expect(dockerRefusal(new Error('(HTTP code 500) of somebody else'))).toBeNull();
});
