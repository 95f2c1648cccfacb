import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { installationIn } from '../../state/installation.ts';
import { readManifest, recordCreated } from '../../state/manifest.ts';
import { removeFormerImages } from './service-image.ts';
import { startFakeDaemon } from './test/fake-daemon.ts';

test('an upgrade removes the images of the services before it, and no other', async () => {
  const asked: string[] = [];
  const answers: Readonly<Record<string, number>> = { 'svc-platform:1-old': 200, 'svc-platform:2-used': 409 };
  await using daemon = await startFakeDaemon(({ method, url = '' }, response) => {
    const name = decodeURIComponent(url).replace(/^.*\/images\/([^?]*).*$/, '$1');
    asked.push(`${method} ${name}`);
    response.writeHead(answers[name] ?? 404, { 'content-type': 'application/json' });
    response.end('[]');
  });
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'svc-former-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const installation = installationIn(folder);
  mkdirSync(installation.stateDir);
  const former = ['svc-platform:1-old', 'svc-platform:2-used', 'svc-platform:3-gone'];
  const present = ['svc-platform:4', 'nats:2.14.0'];
  recordCreated(installation, [
    { kind: 'volume', path: 'svc-platform:1-old' },
    ...[...former, ...present].map((path) => ({ kind: 'image', path }) as const),
  ]);
  await removeFormerImages(daemon.docker, installation, present);
  expect(asked).toEqual(former.map((name) => `DELETE ${name}`));
  expect(readManifest(installation).map(({ path }) => path)).toEqual([
    ...['svc-platform:1-old', 'svc-platform:2-used'],
    ...present,
  ]);
});
