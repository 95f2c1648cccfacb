import { afterEach, describe, expect, test, vi } from 'vitest';
import { toBody } from '../../services/backend/bus/wire.ts';
import { startTestBackend, type TestBackend } from '../../services/backend/test/start-test-backend.ts';
import { subjects } from '../../services/contracts/bus/subjects.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { newProcessId } from '../../services/contracts/ids.ts';
import { newKey } from '../../services/contracts/keys.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { startFrontend } from '../../services/frontend/start.ts';
import type { RunningService } from '../../services/kit/service.ts';
import { startRemoteMcp } from '../../services/remote-mcp/start.ts';
import { startRuntime } from '../../services/runtime/start.ts';
import { folderOfEachTest } from './folder-of-each-test.ts';
import { freePort } from './free-ports.ts';
import { secondLoopback } from './second-loopback.ts';

/** Each variable is changed, and the running service is observed: a parsed value alone proves nothing. */
const folder = folderOfEachTest();
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function backendWith(env: Readonly<Record<string, string>> = {}): Promise<TestBackend> {
  const backend = await startTestBackend(env);
  open.push(() => backend.stop());
  return backend;
}

async function registered(backend: TestBackend, component: 'remote-mcp' | 'runtime') {
  const key = newKey('system').reveal();
  await backend.must('mutation ($input: SystemKeyInput!) { registerSystemKey(input: $input) }', {
    input: { component, key, ...(component === 'runtime' ? { runtimeNames: ['cloud'] } : {}) },
  });
  return key;
}

interface Started {
  readonly service: RunningService;
  readonly logged: readonly { readonly level: string; readonly name: string; readonly msg: string }[];
}

const starts = { frontend: startFrontend, runtime: startRuntime, 'remote-mcp': startRemoteMcp };

/** Starts a service with a backend that knows it. */
async function start(name: keyof typeof starts, env: EnvRecord): Promise<Started> {
  const backend = await backendWith();
  const known = {
    frontend: { PORT: '0' },
    runtime: { SVC_WORKING_DIR: folder(), RUNTIME_NAME: 'cloud' },
    'remote-mcp': { REMOTE_PORT: '0', PRIVATE_BACKEND_URL: backend.url },
  };
  const key = name === 'frontend' ? {} : { SYSTEM_KEY: await registered(backend, name) };
  const logged: Started['logged'][number][] = [];
  const log = { write: (line: string) => void logged.push(JSON.parse(line)) };
  const variables = { BUS_SERVERS: 'inproc:', ...known[name], ...key, ...env };
  const service = await starts[name](variables, { hub: backend.hub, version: '1', log });
  open.push(() => service.stop());
  return { service, logged };
}

const until = <Found>(look: () => Promise<Found> | Found) => vi.waitUntil(look, { timeout: 15_000 });

const statusOf = async ({ service }: Started, path: string) => (await fetch(`${service.url}${path}`)).status;

describe('where a service answers', () => {
  test.each([
    ['frontend BIND_HOST', 'frontend', {}],
    ['runtime BIND_HOST', 'runtime', { REMOTE_PORT: '0' }],
    ['remote-mcp BIND_HOST', 'remote-mcp', {}],
  ] as const)('%s is its address', async (_, name, env) => {
    const one = await start(name, { ...env, BIND_HOST: secondLoopback.host });
    expect(new URL(one.service.url ?? '').hostname).toBe(secondLoopback.inUrl);
    expect(await statusOf(one, '/health')).toBe(200);
  });

  test.each([
    ['backend PORT', 'backend', 'PORT'],
    ['frontend PORT', 'frontend', 'PORT'],
    ['runtime REMOTE_PORT', 'runtime', 'REMOTE_PORT'],
    ['remote-mcp REMOTE_PORT', 'remote-mcp', 'REMOTE_PORT'],
  ] as const)('%s is its port', async (_, name, variable) => {
    const port = String(await freePort());
    const env = { [variable]: port };
    const { url } = name === 'backend' ? await backendWith(env) : (await start(name, env)).service;
    expect(new URL(url ?? '').port).toBe(port);
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  });
});

describe('the log', () => {
  test('frontend LOG_LEVEL sets the level of its log', async () => {
    expect((await start('frontend', { LOG_LEVEL: 'info' })).logged.map(({ msg }) => msg)).toContain('listening');
    const quiet = await start('frontend', { LOG_LEVEL: 'error' });
    await quiet.service.stop();
    expect(quiet.logged).toEqual([]);
  });

  test('remote-mcp LOG_LEVEL sets the level of its log, remote-mcp LOG_LEVELS of single loggers', async () => {
    const quiet = await start('remote-mcp', { LOG_LEVEL: 'error' });
    await until(async () => (await statusOf(quiet, '/ready')) === 200);
    await quiet.service.stop();
    expect(quiet.logged).toEqual([]);
    const some = await start('remote-mcp', { LOG_LEVEL: 'error', LOG_LEVELS: 'b*=info' });
    await until(() => some.logged.find((line) => line.name === 'bus'));
    await some.service.stop();
    expect(new Set(some.logged.map((line) => line.name))).toEqual(new Set(['bus']));
  });
});

test('backend PRIVATE_GRAPHDB_URL may be the address of a Dgraph, which is named where none answers', async () => {
  const port = await freePort();
  await expect(startTestBackend({ PRIVATE_GRAPHDB_URL: `127.0.0.1:${port}` })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`"127.0.0.1:${port + 1000}" cannot be reached`),
  });
});

test('backend FILES_DIR is where files are kept: without it and without NATS there is no place for them', async () => {
  await expect(startTestBackend({ FILES_DIR: '' })).rejects.toMatchObject({
    code: 'invalid_input',
    hint: expect.stringContaining('FILES_DIR'),
  });
});

test.each([
  ['0', 2],
  ['3600', 1],
])(
  'backend IDENTITY_KEY_USAGE_THROTTLE_SECONDS: with %s, two uses of a key leave %i last uses',
  async (seconds, count) => {
    const backend = await backendWith({ IDENTITY_KEY_USAGE_THROTTLE_SECONDS: seconds });
    const { createWorkspace } = await backend.must(
      'mutation { createWorkspace(input: { name: "Default", ownerEmail: "o@localhost" }) { id } }',
    );
    const w = createWorkspace.id;
    const { createKey } = await backend.must(
      'mutation ($w: ID!) { createKey(workspace: $w, input: { name: "k" }) { secret } }',
      { w },
    );
    const key = new Secret(await registered(backend, 'remote-mcp'));
    const remoteMcp = await backend.hub.connect({ kind: 'system', key, component: 'remote-mcp' }, newProcessId());
    open.push(() => remoteMcp.close());
    const check = toBody({ key: createKey.secret });
    const seen = new Set<number>();
    for (let use = 0; use < 2; use++) {
      await remoteMcp.request(subjects.key(remoteMcp.identity.process), check, { timeoutMs: 5000 });
      const lastUse = await until(async (): Promise<number | false> => {
        const query = 'query ($w: ID) { workspace(id: $w) { keys { nodes { lastUsedAt } } } }';
        const at: number | null = (await backend.must(query, { w })).workspace.keys.nodes[0].lastUsedAt;
        return at !== null && (seconds !== '0' || !seen.has(at)) && at;
      });
      seen.add(lastUse);
    }
    expect(seen.size).toBe(count);
  },
);

test('runtime SKILL_IDS and ROLE_IDS are not read, with one notice', async () => {
  const { logged } = await start('runtime', { SKILL_IDS: 'a', ROLE_IDS: 'b' });
  const warnings = logged.filter((line) => line.level === 'warn' && /SKILL_IDS|ROLE_IDS/.test(JSON.stringify(line)));
  expect(warnings.length).toBe(2);
});
