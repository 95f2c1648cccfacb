import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../stack/test/free-ports.ts';
import { secondLoopback } from '../../../stack/test/second-loopback.ts';
import { newProcessId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { tokenAudience } from '../../contracts/token.ts';
import type { Hub } from '../../kit/bus/bus.ts';
import { newSeeds } from '../../kit/bus/nats/test/server.ts';
import { startHub } from '../../kit/bus/start.ts';
import type { RunningService } from '../../kit/service.ts';
import { startBackend } from '../start.ts';

const present = generateKeyPairSync('ed25519');
const previous = generateKeyPairSync('ed25519');
let folder: string;
let hub: Hub;
let logged: string[] = [];
const log = { write: (line: string) => void logged.push(line) };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-boot-'));
  hub = await startHub({ file: null });
  const pem = { type: 'spki', format: 'pem' } as const;
  await writeFile(join(folder, 'private.pem'), present.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(folder, 'public.pem'), present.publicKey.export(pem));
  await writeFile(join(folder, 'previous.pem'), previous.publicKey.export(pem));
});
afterAll(async () => {
  await hub.stop();
  await rm(folder, { recursive: true, force: true });
});

let count = 0;
/** Each backend has a new file, unless the test names one. */
function start(env: Readonly<Record<string, string>> = {}): Promise<RunningService> {
  logged = [];
  return startBackend(
    {
      PORT: '0',
      PRIVATE_GRAPHDB_URL: `file:${join(folder, `graph-${++count}.sqlite`)}`,
      FILES_DIR: join(folder, 'blobs'),
      BUS_SERVERS: 'inproc:',
      ENCRYPTION_KEY: '5e'.repeat(32),
      JWT_PRIVATE_KEY_PATH: join(folder, 'private.pem'),
      JWT_PUBLIC_KEY_PATH: join(folder, 'public.pem'),
      ...env,
    },
    { hub, version: '0.0.0', log },
  );
}

function token(claims: object = {}, key = present.privateKey, kid?: string): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 60;
  const standard = { iss: 'service-platform', aud: tokenAudience, exp, kind: 'operator', sub: 'root' };
  return new SignJWT({ ...standard, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', ...(kid === undefined ? {} : { kid }) })
    .sign(key);
}

async function ask(service: RunningService, query: string, ...signed: Parameters<typeof token>) {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await token(...signed)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe('refuses to start', () => {
  test('with every fault in one message', async () => {
    await expect(start({ ENCRYPTION_KEY: '', PORT: 'x', CORS_ORIGINS: 'nonsense/path' })).rejects.toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message: expect.stringMatching(/3 variables are wrong.*PORT.*ENCRYPTION_KEY.*CORS_ORIGINS/s),
      }),
    );
  });

  test('without its signing keys', async () => {
    await expect(start({ JWT_PRIVATE_KEY_PATH: join(folder, 'none.pem') })).rejects.toThrow(/JWT_PRIVATE_KEY_PATH/);
  });

  test('with an encryption key that differs from the one of its records', async () => {
    const file = { PRIVATE_GRAPHDB_URL: `file:${join(folder, 'encrypted.sqlite')}` };
    await (await start(file)).stop();
    await expect(start({ ...file, ENCRYPTION_KEY: 'aa'.repeat(32) })).rejects.toThrow(/^ENCRYPTION_KEY is not the key/);
    await (await start(file)).stop();
  });

  test('with a public key that is missing or belongs to another private key', async () => {
    await expect(start({ JWT_PUBLIC_KEY_PATH: join(folder, 'none.pem') })).rejects.toThrow(/JWT_PUBLIC_KEY_PATH/);
    await expect(start({ JWT_PUBLIC_KEY_PATH: join(folder, 'previous.pem') })).rejects.toThrow(
      /JWT_PUBLIC_KEY_PATH.* is not the public half of JWT_PRIVATE_KEY_PATH/,
    );
  });

  test('on a bus that does not exist', async () => {
    const { callout, system, issuer } = newSeeds();
    const server = `127.0.0.1:${await freePort()}`;
    const env = {
      BUS_SERVERS: server,
      BUS_CALLOUT_SEED: callout.reveal(),
      BUS_SYSTEM_SEED: system.reveal(),
      BUS_ISSUER_SEED: issuer.reveal(),
    };
    await expect(start(env)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(`^Cannot reach the bus at .*${server}.*: `),
    });
  });

  test('on NATS without the seeds that prove its identity', async () => {
    await expect(start({ BUS_SERVERS: 'localhost:4222' })).rejects.toThrow(/BUS_CALLOUT_SEED/);
  });

  test('on a port in use, and releases everything it had opened', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const address = taken.address();
    const port = address !== null && typeof address === 'object' ? String(address.port) : '';
    const file = { PRIVATE_GRAPHDB_URL: `file:${join(folder, 'taken.sqlite')}` };
    await expect(start({ ...file, PORT: port })).rejects.toThrow(expect.objectContaining({ code: 'conflict' }));
    const stranger = { kind: 'system', key: newKey('system'), component: 'remote-mcp' } as const;
    await expect(hub.connect(stranger, newProcessId())).rejects.toThrow(/No backend is connected/);
    await new Promise((resolve) => taken.close(resolve));
    const later = await start({ ...file, PORT: port });
    expect(later.url).toBe(`http://127.0.0.1:${port}`);
    await later.stop();
  });
});

describe('once it runs', () => {
  test('it keeps its data across a restart', async () => {
    const file = { PRIVATE_GRAPHDB_URL: `file:${join(folder, 'kept.sqlite')}` };
    const first = await start(file);
    await ask(first, 'mutation { createWorkspace(input: { name: "W", ownerEmail: "a@b" }) { id } }');
    await first.stop();
    await expect(fetch(`${first.url}/health`)).rejects.toThrow();
    const second = await start(file);
    const { body } = await ask(second, '{ workspaces { nodes { name revision } } }');
    expect(body).toEqual({ data: { workspaces: { nodes: [{ name: 'W', revision: 1 }] } } });
    await second.stop();
  });

  test('a running request is answered before it stops', async () => {
    const service = await start();
    const body = '{"query":"{ viewer { kind } }"}';
    const asked = request(`${service.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-length': body.length,
        authorization: `Bearer ${await token()}`,
        'content-type': 'application/json',
        // This answer shows that the backend has begun to read the request.
        expect: '100-continue',
      },
    });
    asked.flushHeaders();
    await once(asked, 'continue');
    const stopped = service.stop();
    asked.end(body);
    const [response] = await once(asked, 'response');
    expect(JSON.parse(await text(response))).toEqual({ data: { viewer: { kind: 'operator' } } });
    await stopped;
  });
});

describe('variables', () => {
  test('BIND_HOST is where it listens', async () => {
    const service = await start({ BIND_HOST: secondLoopback.host });
    expect(new URL(service.url ?? '').hostname).toBe(secondLoopback.inUrl);
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    await service.stop();
  });

  test('JWT_ISSUER decides whose tokens are good', async () => {
    const service = await start({ JWT_ISSUER: 'somebody-else' });
    expect((await ask(service, '{ viewer { id } }')).status).toBe(401);
    expect((await ask(service, '{ viewer { id } }', { iss: 'somebody-else' })).status).toBe(200);
    await service.stop();
  });

  test('JWT_PREVIOUS_PUBLIC_KEY_PATH keeps tokens of the earlier key valid', async () => {
    const strict = await start();
    const overlapping = await start({ JWT_PREVIOUS_PUBLIC_KEY_PATH: join(folder, 'previous.pem') });
    const jwks = await fetch(`${overlapping.url}/.well-known/jwks.json`);
    const { keys } = (await jwks.json()) as { keys: { kid: string }[] };
    expect(keys).toHaveLength(2);
    const old = (service: RunningService) =>
      ask(service, '{ viewer { id } }', {}, previous.privateKey, keys[1]?.kid).then(({ status }) => status);
    expect([await old(strict), await old(overlapping)]).toEqual([401, 200]);
    await strict.stop();
    await overlapping.stop();
  });

  test('LOG_LEVEL decides what is logged', async () => {
    const levels = new Set<string>();
    for (const level of ['debug', 'error']) {
      const service = await start({ LOG_LEVEL: level });
      await ask(service, '{ viewer { id } }');
      await service.stop();
      for (const line of logged) levels.add(`${level}: ${JSON.parse(line).level}`);
    }
    expect([...levels].sort()).toEqual(['debug: debug', 'debug: info']);
  });

  test("the backend's own pages may call it, whatever CORS_ORIGINS says", async () => {
    const service = await start({
      CORS_ORIGINS: 'https://app.example.com',
      PUBLIC_BACKEND_URL: 'https://api.example.com',
    });
    const preflight = (origin: string) =>
      fetch(`${service.url}/graphql`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      }).then(({ status }) => status);
    expect(await preflight('https://api.example.com')).toBe(204);
    expect(await preflight('https://app.example.com')).toBe(204);
    expect(await preflight('http://localhost:8888')).toBe(403);
    await service.stop();
  });
});
