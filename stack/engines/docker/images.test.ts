import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { installationIn } from '../../state/installation.ts';
import { readManifest, recordCreated } from '../../state/manifest.ts';
import { ensureImage, removeFormerImages } from './images.ts';
import { type FakeDaemon, startFakeDaemon } from './test/fake-daemon.ts';

/** The registry's answer to a pull. If it contains no error, the pull never ends. */
let answer: Readonly<Record<string, string>>;
let begun: PromiseWithResolvers<void>;
/** All requests except GET, each with its login. */
let asked: { readonly request: string; readonly login: string }[];
let folder: string;
let daemon: FakeDaemon;
const removals: Readonly<Record<string, number>> = { 'svc-platform:1-old': 200, 'svc-platform:2-used': 409 };
beforeEach(async () => {
  answer = { status: 'Downloading' };
  begun = Promise.withResolvers();
  asked = [];
  folder = mkdtempSync(join(tmpdir(), 'svc-images-'));
  daemon = await startFakeDaemon(({ method, url = '', headers }, response) => {
    const request = decodeURIComponent(url).replace(/^.*\/images\//, '');
    const login = Buffer.from(String(headers['x-registry-auth'] ?? ''), 'base64').toString();
    if (method !== 'GET') asked.push({ request: `${method} ${request}`, login });
    if (method === 'POST') {
      response.write(`${JSON.stringify(answer)}\n`);
      begun.resolve();
      return 'error' in answer && response.end();
    }
    const status = method === 'DELETE' ? removals[request] : undefined;
    response.writeHead(status ?? 404, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ message: 'No such image' }));
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await daemon[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function pull(image = 'nats:9.9.9', { signal } = new AbortController()): Promise<string> {
  const env = { DOCKER_CONFIG: folder };
  return ensureImage(image, 'images.nats', { docker: daemon.docker, env, signal, onNotice: () => undefined });
}

test('a silent registry ends at the deadline', async () => {
  const late = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
  begun.promise.then(() => late.abort());
  await expect(pull()).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The image "nats:9.9.9" is missing and could not be pulled: it was not done within 20 minutes.',
  });
});

test('a pull ends when the signal aborts', async () => {
  const interrupting = new AbortController();
  begun.promise.then(() => interrupting.abort());
  await expect(pull('nats:9.9.9', interrupting)).rejects.toThrow('aborted');
});

test.each([
  ['manifest for nats:9.9.9 not found: manifest unknown', 'Check images.nats in svc.yaml'],
  ['write /var/lib/docker/tmp/x: no space left on device', 'docker system df'],
])('an image that cannot be pulled is refused in the words of Docker: %s', async (error, hint) => {
  answer = { error };
  await expect(pull()).rejects.toMatchObject({
    code: 'unavailable',
    message: `The image "nats:9.9.9" is missing and could not be pulled: ${error}.`,
    hint: expect.stringContaining(hint),
  });
});

test('Docker is given the login with the request for the image, outside of its address', async () => {
  const own = { auth: Buffer.from('ann:secret').toString('base64') };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ auths: { 'registry.example.com': own } }));
  answer = { error: 'pull access denied' };
  const images = ['registry.example.com/node:24.1.0', `nats@sha256:${'a'.repeat(64)}`];
  for (const image of images) await expect(pull(image)).rejects.toThrow('could not be pulled');
  expect(asked).toEqual([
    {
      request: `POST create?fromImage=${images[0]}`,
      login: JSON.stringify({ username: 'ann', password: 'secret', serveraddress: 'registry.example.com' }),
    },
    { request: `POST create?fromImage=${images[1]}`, login: '' },
  ]);
});

test('an upgrade removes the images of the services before it, and no other', async () => {
  const installation = installationIn(folder);
  mkdirSync(installation.stateDir);
  const former = ['svc-platform:1-old', 'svc-platform:2-used', 'svc-platform:3-gone'];
  const present = ['svc-platform:4', 'nats:2.14.0'];
  recordCreated(installation, [
    { kind: 'volume', path: 'svc-platform:1-old' },
    ...[...former, ...present].map((path) => ({ kind: 'image', path }) as const),
  ]);
  await removeFormerImages(daemon.docker, installation, present);
  expect(asked.map(({ request }) => request)).toEqual(former.map((name) => `DELETE ${name}`));
  expect(readManifest(installation).map(({ path }) => path)).toEqual([
    ...['svc-platform:1-old', 'svc-platform:2-used'],
    ...present,
  ]);
});
