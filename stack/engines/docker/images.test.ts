import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ensureImage } from './images.ts';

const layer = { status: 'Downloading', id: 'one', progressDetail: { current: 50, total: 100 } };

/** Begins a pull that never continues. */
const server = createServer(({ url }, response) => {
  if (url?.startsWith('/images/create')) return response.write(`${JSON.stringify(layer)}\n`);
  response.writeHead(404, { 'content-type': 'application/json' });
  return response.end(JSON.stringify({ message: 'No such image' }));
});

let folder: string;
let docker: Docker;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-images-'));
  const socketPath = join(folder, 'docker.sock');
  await once(server.listen(socketPath), 'listening');
  docker = new Docker({ socketPath, host: undefined, protocol: 'http' });
});
afterEach(async () => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  await once(server.close(), 'close');
  rmSync(folder, { recursive: true, force: true });
});

/** An image whose pull has begun. */
async function fetching(signal: AbortSignal) {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const onNotice = (message: string) => message.includes('%') && begin();
  const fetched = ensureImage('nats:9.9.9', 'images.nats', { docker, env: {}, signal, onNotice });
  await Promise.race([begun, fetched]);
  return { fetched };
}

test('a registry that says nothing any more is not waited for without end', async () => {
  const late = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
  const { fetched } = await fetching(new AbortController().signal);
  const failed = expect(fetched).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The image "nats:9.9.9" is missing and could not be pulled: it was not done within 20 minutes.',
  });
  late.abort();
  await failed;
});

test('whoever fetches it is heard when he gives up', async () => {
  const interrupting = new AbortController();
  const { fetched } = await fetching(interrupting.signal);
  const failed = expect(fetched).rejects.toThrow(/aborted/);
  interrupting.abort();
  await failed;
});
