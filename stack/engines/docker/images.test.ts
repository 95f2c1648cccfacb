import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { installationIn } from '../../state/installation.ts';
import { readManifest, recordCreated } from '../../state/manifest.ts';
import { ensureImage, removeFormerImages } from './images.ts';
import { type FakeDaemon, startFakeDaemon } from './test/fake-daemon.ts';

/** The registry's answer to a pull. Without an error the pull never continues. */
let answer: Readonly<Record<string, string>>;
let begun: PromiseWithResolvers<void>;
let daemon: FakeDaemon;
beforeEach(async () => {
  answer = { status: 'Downloading' };
  begun = Promise.withResolvers();
  daemon = await startFakeDaemon(({ url }, response) => {
    if (url?.startsWith('/images/create')) {
      response.write(`${JSON.stringify(answer)}\n`);
      begun.resolve();
      return 'error' in answer && response.end();
    }
    response.writeHead(404, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ message: 'No such image' }));
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await daemon[Symbol.asyncDispose]();
});

const fetchNats = (signal: AbortSignal) =>
  ensureImage('nats:9.9.9', 'images.nats', { docker: daemon.docker, env: {}, signal, onNotice: () => undefined });

/** A pull that has begun fails like this once it is ended. */
async function expectFailing(signal: AbortSignal, end: () => void, failure: object): Promise<void> {
  const fetched = fetchNats(signal);
  const failed = expect(fetched).rejects.toMatchObject(failure);
  await Promise.race([begun.promise, failed]);
  end();
  await failed;
}

test('a silent registry ends at the deadline', async () => {
  const late = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
  await expectFailing(new AbortController().signal, () => late.abort(), {
    code: 'unavailable',
    message: 'The image "nats:9.9.9" is missing and could not be pulled: it was not done within 20 minutes.',
  });
});

test.each([
  ['manifest for nats:9.9.9 not found: manifest unknown', 'Check images.nats in svc.yaml'],
  ['write /var/lib/docker/tmp/x: no space left on device', 'docker system df'],
])('an image that cannot be pulled is refused in the words of Docker: %s', async (error, hint) => {
  answer = { error };
  const { signal } = new AbortController();
  await expect(fetchNats(signal)).rejects.toMatchObject({
    code: 'unavailable',
    message: `The image "nats:9.9.9" is missing and could not be pulled: ${error}.`,
    hint: expect.stringContaining(hint),
  });
});

test('a pull ends when the signal aborts', async () => {
  const interrupting = new AbortController();
  const failure = { message: expect.stringContaining('aborted') };
  await expectFailing(interrupting.signal, () => interrupting.abort(), failure);
});

test('an upgrade removes the images of the services before it, and no other', async () => {
  const asked: string[] = [];
  const answers: Readonly<Record<string, number>> = { 'svc-platform:1-old': 200, 'svc-platform:2-used': 409 };
  await using answering = await startFakeDaemon(({ method, url = '' }, response) => {
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
  await removeFormerImages(answering.docker, installation, present);
  expect(asked).toEqual(former.map((name) => `DELETE ${name}`));
  expect(readManifest(installation).map(({ path }) => path)).toEqual([
    ...['svc-platform:1-old', 'svc-platform:2-used'],
    ...present,
  ]);
});
