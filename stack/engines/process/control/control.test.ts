import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Installation, installationIn } from '../../../state/installation.ts';
import { ownIdentity } from '../../../state/process-identity.ts';
import { askSupervisor } from './control-client.ts';
import { type Answer, type ControlServer, openControl } from './control-server.ts';
import { controlSocketOf } from './socket-path.ts';

let dir: string;
let installation: Installation;
let opened: ControlServer[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-control-'));
  installation = installationIn(dir);
  mkdirSync(installation.stateDir);
});
afterEach(async () => {
  for (const server of opened) await server.close();
  opened = [];
  rmSync(dir, { recursive: true, force: true });
});

const record = {
  ...ownIdentity(),
  version: '1.2.3',
  topology: 'distributed' as const,
  foreground: false,
  settings: {},
  urls: { app: 'a', api: 'b', mcp: 'c', runtime: 'd' },
  services: [],
};
const tellRecord: Answer = async (_asked, reply) => reply({ kind: 'record', record });

async function open(answer: Answer = tellRecord): Promise<void> {
  opened.push(await openControl(installation, answer));
}

const ask = (silenceMaxMs = 5000) => askSupervisor(installation, { kind: 'status' }, { silenceMaxMs });

/** The answer to bytes that our client would never send. */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const client = connect(controlSocketOf(installation), () => client.write(text));
    let said = '';
    client.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    client.on('error', reject);
    client.on('close', () => resolve(said));
  });
}

test('a question is answered, and the way to the answer told', async () => {
  await open(async (asked, reply) => {
    reply({ kind: 'service', name: 'backend', state: 'starting' });
    reply({ kind: 'service', name: 'backend', state: 'healthy' });
    reply(asked.kind === 'apply' ? { kind: 'applied' } : { kind: 'record', record });
  });
  const told: unknown[] = [];
  const answer = await askSupervisor(
    installation,
    { kind: 'apply', ports: '{}' },
    { silenceMaxMs: 5000, onProgress: (line) => told.push(line) },
  );
  expect(answer).toEqual({ kind: 'applied' });
  expect(told).toMatchObject([{ state: 'starting' }, { state: 'healthy' }]);
  expect(await ask()).toEqual({ kind: 'record', record });
});

test('only this user may ask', async () => {
  await open();
  expect(lstatSync(controlSocketOf(installation)).mode & 0o777).toBe(0o600);
});

test('a socket that a killed supervisor left is replaced, and nothing is left of one that ends', async () => {
  const stale = createServer();
  await new Promise<void>((resolve) => stale.listen(controlSocketOf(installation), resolve));
  await open();
  expect(await ask()).toMatchObject({ kind: 'record' });
  await opened.pop()?.close();
  expect(existsSync(controlSocketOf(installation))).toBe(false);
  await new Promise((resolve) => stale.close(resolve));
});

test('it is found however deep the installation lies', async () => {
  installation = installationIn(join(dir, 'deep/'.repeat(40)));
  mkdirSync(installation.stateDir, { recursive: true });
  await open();
  expect(controlSocketOf(installation).length).toBeGreaterThan(108);
  expect(await ask()).toMatchObject({ kind: 'record' });
});

describe('refused is', () => {
  test('a socket that others could have made or may use', async () => {
    await open();
    chmodSync(controlSocketOf(installation), 0o666);
    await expect(ask()).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/is not this installation's control socket: its mode is 0666\.$/),
    });
  });

  test('what is no socket', async () => {
    writeFileSync(controlSocketOf(installation), '', { mode: 0o600 });
    await expect(ask()).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('not a socket') });
  });

  test.each([
    ['what is no request', 'hello\n'],
    ['a request of another kind', '{"kind":"destroy"}\n'],
    ['a request without an end', 'x'.repeat(70_000)],
  ])('%s, and whoever asks after it is answered', async (_what, text) => {
    await open();
    expect(await sendRaw(text)).toBe('');
    expect(await ask()).toMatchObject({ kind: 'record' });
  });
});

test('who connects and says nothing is let go', async () => {
  await open();
  expect(await sendRaw('')).toBe('');
});

describe('no answer is told', () => {
  test('where there is nobody', async () => {
    await expect(ask()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('does not answer'),
    });
  });

  test('where one hears and says nothing', async () => {
    await open(() => new Promise(() => undefined));
    await expect(ask(50)).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('where one stumbles over the question', async () => {
    await open(() => Promise.reject(new Error('a bug')));
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
  });
});
