import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { dockerRefusal, statusOf } from '../../../services/contracts/docker.ts';
import { connectTo } from './daemon.ts';

const left: (() => void)[] = [];
afterEach(() => {
  for (const leave of left.splice(0).reverse()) leave();
});

/** A server that passes for Docker and answers every other request with an error. */
async function fakeDocker() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-daemon-'));
  left.push(() => rmSync(folder, { recursive: true }));
  const socket = join(folder, 'docker.sock');
  const server = createServer(({ url }, response) => {
    if (url === '/version') return response.end(JSON.stringify({ ApiVersion: '1.47' }));
    if (url === '/info') return response.end(JSON.stringify({ ID: 'one' }));
    if (url?.startsWith('/containers/hangs')) return response.destroy();
    response.writeHead(500, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ message: 'driver failed: out of addresses' }));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  left.push(() => void stop());
  const { docker } = await connectTo({ socket, saidBy: 'DOCKER_HOST' });
  return { docker, socket, stop };
}

test('a daemon that stops between two requests is reported in words, with the repair', async () => {
  const { docker, socket, stop } = await fakeDocker();
  await expect(docker.getContainer('hangs').inspect()).rejects.toMatchObject({
    code: 'unavailable',
    message: `Docker at "${socket}" (DOCKER_HOST) gives an unexpected answer: the connection was closed by the other side.`,
    hint: 'Check its state: docker info.',
  });
  await stop();
  await expect(docker.listContainers()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^Docker (is not running: there is no socket|at) ".*docker\.sock"/),
  });
});

test('a refusal of the daemon keeps its status for callers, and has a general message otherwise', async () => {
  const { docker } = await fakeDocker();
  const refused: unknown = await docker.listContainers().catch((error: unknown) => error);
  expect(statusOf(refused)).toBe(500);
  expect(dockerRefusal(refused)).toMatchObject({
    code: 'unavailable',
    message: 'Docker refused the request: driver failed: out of addresses.',
  });
  expect(dockerRefusal(new Error('(HTTP code 500) of somebody else'))).toBeNull();
});
