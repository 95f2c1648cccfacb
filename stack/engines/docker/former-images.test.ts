import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installationIn } from '../../state/installation.ts';
import { readManifest, recordCreated } from '../../state/manifest.ts';
import { removeFormerImages } from './former-images.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-former-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('an upgrade removes the images of the services before it, and no other', async () => {
  const asked: string[] = [];
  const answers: Readonly<Record<string, number>> = { 'svc-platform:1-old': 200, 'svc-platform:2-used': 409 };
  const server = createServer(({ method, url = '' }, response) => {
    const name = decodeURIComponent(url).replace(/^.*\/images\/([^?]*).*$/, '$1');
    asked.push(`${method} ${name}`);
    response.writeHead(answers[name] ?? 404, { 'content-type': 'application/json' });
    response.end('[]');
  });
  const socketPath = join(folder, 'docker.sock');
  await once(server.listen(socketPath), 'listening');
  const docker = new Docker({ socketPath, host: undefined, protocol: 'http' });

  const installation = installationIn(folder);
  mkdirSync(installation.stateDir);
  const images = ['svc-platform:1-old', 'svc-platform:2-used', 'svc-platform:3-gone', 'svc-platform:4', 'nats:2.14.0'];
  recordCreated(installation, [
    { kind: 'volume', path: 'svc-platform:1-old' },
    ...images.map((path) => ({ kind: 'image', path }) as const),
  ]);
  await removeFormerImages(docker, installation, 'svc-platform:4');
  expect(asked).toEqual(
    ['svc-platform:1-old', 'svc-platform:2-used', 'svc-platform:3-gone'].map((name) => `DELETE ${name}`),
  );
  expect(readManifest(installation).map(({ path }) => path)).toEqual([
    'svc-platform:1-old',
    'svc-platform:2-used',
    'svc-platform:4',
    'nats:2.14.0',
  ]);
  server.closeAllConnections();
  await once(server.close(), 'close');
});
