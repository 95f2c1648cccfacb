import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startTestBackend, type TestBackend } from '../../services/backend/test/start-test-backend.ts';
import { subjects } from '../../services/contracts/bus/subjects.ts';
import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { newId, newProcessId } from '../../services/contracts/ids.ts';
import { newKey } from '../../services/contracts/keys.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { startFrontend } from '../../services/frontend/start.ts';
import { startHub } from '../../services/kit/bus/start.ts';
import type { RunningService, StartService } from '../../services/kit/service.ts';
import { startRemoteMcp } from '../../services/remote-mcp/start.ts';
import { ping, rpc, send } from '../../services/remote-mcp/test/raw.ts';
import { startRuntime } from '../../services/runtime/start.ts';
import { freePort } from './free-ports.ts';
import { secondLoopback } from './second-loopback.ts';

/** Each variable is changed, and what the running service then does is observed: that it is parsed proves nothing. */
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const ending = join(import.meta.dirname, '../../services/runtime/test/children/exits.mjs');

async function backendWith(env: Readonly<Record<string, string>> = {}): Promise<TestBackend> {
  const backend = await startTestBackend(env);
  open.push(() => backend.stop());
  return backend;
}

async function registered(backend: TestBackend, component: 'remote-mcp' | 'runtime', runtimeNames: string[] = []) {
  const key = newKey('system').reveal();
  await backend.must('mutation ($input: SystemKeyInput!) { registerSystemKey(input: $input) }', {
    input: { component, key, ...(component === 'runtime' ? { runtimeNames } : {}) },
  });
  return key;
}

interface Started {
  readonly service: RunningService;
  readonly logged: readonly { readonly level: string; readonly name: string; readonly msg: string }[];
}

async function started(start: StartService, backend: TestBackend, env: EnvRecord): Promise<Started> {
  const logged: Started['logged'][number][] = [];
  const log = { write: (line: string) => void logged.push(JSON.parse(line)) };
  const service = await start({ BUS_SERVERS: 'inproc:', ...env }, { hub: backend.hub, version: '1', log });
  open.push(() => service.stop());
  return { service, logged };
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-variables-'));
  open.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function runtimeWith(backend: TestBackend, env: EnvRecord): Promise<Started> {
  return started(startRuntime, backend, { SVC_WORKING_DIR: await newFolder(), ...env });
}

async function remoteMcpWith(backend: TestBackend, env: EnvRecord): Promise<Started> {
  return started(startRemoteMcp, backend, { REMOTE_PORT: '0', PRIVATE_BACKEND_URL: backend.url, ...env });
}

/** What starts processes of a service that the backend knows. */
const beside = {
  frontend: async (backend: TestBackend) => (env: EnvRecord) => started(startFrontend, backend, { PORT: '0', ...env }),
  runtime: async (backend: TestBackend) => {
    const identity = { SYSTEM_KEY: await registered(backend, 'runtime', ['cloud']), RUNTIME_NAME: 'cloud' };
    return (env: EnvRecord) => runtimeWith(backend, { ...identity, ...env });
  },
  'remote-mcp': async (backend: TestBackend) => {
    const SYSTEM_KEY = await registered(backend, 'remote-mcp');
    return (env: EnvRecord) => remoteMcpWith(backend, { SYSTEM_KEY, ...env });
  },
};

const until = <Found>(look: () => Promise<Found> | Found) => vi.waitUntil(look, { timeout: 15_000 });

/** An MCP server that says something on stderr and ends, or that runs this program. */
async function addServer(backend: TestBackend, args = [ending, '1', 'last words']): Promise<void> {
  await backend.must(
    'mutation ($workspace: ID!, $input: McpServerInput!) { createMcpServer(workspace: $workspace, input: $input) { id } }',
    {
      workspace: await addWorkspace(backend),
      input: { name: 'ends', launch: { command: process.execPath, args } },
    },
  );
}

async function addKey(backend: TestBackend, workspace: string): Promise<string> {
  const { createKey } = await backend.must(
    'mutation ($w: ID!) { createKey(workspace: $w, input: { name: "k" }) { secret } }',
    { w: workspace },
  );
  return createKey.secret;
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

async function addWorkspace(backend: TestBackend): Promise<string> {
  const { createWorkspace } = await backend.must(
    'mutation { createWorkspace(input: { name: "Default", ownerEmail: "o@localhost" }) { id } }',
  );
  return createWorkspace.id;
}

const refusal = (start: StartService, env: EnvRecord) => async () => {
  const hub = await startHub({ file: null });
  open.push(() => hub.stop());
  return start({ BUS_SERVERS: 'inproc:', ...env }, { hub, version: '1', log: { write: () => undefined } });
};

const statusOf = async ({ service }: Started, path: string) => (await fetch(`${service.url}${path}`)).status;

describe('where a service answers', () => {
  test.each([
    ['frontend BIND_HOST', 'frontend', {}],
    ['runtime BIND_HOST', 'runtime', { REMOTE_PORT: '0' }],
    ['remote-mcp BIND_HOST', 'remote-mcp', {}],
  ] as const)('%s is its address', async (_, name, env) => {
    const start = await beside[name](await backendWith());
    const one = await start({ ...env, BIND_HOST: secondLoopback.host });
    expect(new URL(one.service.url ?? '').hostname).toBe(secondLoopback.inUrl);
    expect(await statusOf(one, '/health')).toBe(200);
  });

  test.each([
    ['backend PORT', async (PORT: string) => (await backendWith({ PORT })).url],
    ['frontend PORT', (PORT: string) => urlOf('frontend', { PORT })],
    ['runtime REMOTE_PORT', (REMOTE_PORT: string) => urlOf('runtime', { REMOTE_PORT })],
    ['remote-mcp REMOTE_PORT', (REMOTE_PORT: string) => urlOf('remote-mcp', { REMOTE_PORT })],
  ])('%s is its port', async (_, startOn) => {
    const port = await freePort();
    expect(new URL((await startOn(String(port))) ?? '').port).toBe(String(port));
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  });

  async function urlOf(name: keyof typeof beside, env: EnvRecord): Promise<string | null> {
    const start = await beside[name](await backendWith());
    return (await start(env)).service.url;
  }

  test('a runtime answers /health and nothing else, and without a port it has no web service', async () => {
    const start = await beside.runtime(await backendWith());
    expect(await statusOf(await start({ REMOTE_PORT: '0' }), '/mcp')).toBe(404);
    expect((await start({})).service.url).toBeNull();
  });
});

describe('the log', () => {
  test('frontend LOG_LEVEL sets the level of its log', async () => {
    const start = await beside.frontend(await backendWith());
    expect((await start({ LOG_LEVEL: 'info' })).logged.map(({ msg }) => msg)).toContain('listening');
    const quiet = await start({ LOG_LEVEL: 'error' });
    await quiet.service.stop();
    expect(quiet.logged).toEqual([]);
  });

  test.each([
    ['runtime LOG_LEVEL sets the level of its log, runtime LOG_LEVELS of single loggers', 'runtime', 'bus=info'],
    [
      'remote-mcp LOG_LEVEL sets the level of its log, remote-mcp LOG_LEVELS of single loggers',
      'remote-mcp',
      'b*=info',
    ],
  ] as const)('%s', async (_, name, levels) => {
    const start = await beside[name](await backendWith());
    const quiet = await start({ REMOTE_PORT: '0', LOG_LEVEL: 'error' });
    await until(async () => (await statusOf(quiet, '/ready')) === 200);
    await quiet.service.stop();
    expect(quiet.logged).toEqual([]);
    const some = await start({ LOG_LEVEL: 'error', LOG_LEVELS: levels });
    await until(() => some.logged.find((line) => line.name === 'bus'));
    await some.service.stop();
    expect(new Set(some.logged.map((line) => line.name))).toEqual(new Set(['bus']));
  });

  test('unused variables are logged', async () => {
    const { logged } = await (await beside.frontend(await backendWith()))({ METRICS_PORT: '9100' });
    expect(JSON.stringify(logged.filter(({ level }) => level === 'warn'))).toContain('METRICS_PORT is not used yet');
  });
});

describe('production', () => {
  const outside = { PUBLIC_MCP_URL: 'https://mcp.example.com/mcp', PUBLIC_BACKEND_URL: 'http://backend:3000' };

  test('backend NODE_ENV=production refuses the development key', async () => {
    await expect(startTestBackend({ NODE_ENV: 'production', ENCRYPTION_KEY: '0'.repeat(64) })).rejects.toThrow(
      /ENCRYPTION_KEY must not be the development key/,
    );
    await backendWith({ NODE_ENV: 'development', ENCRYPTION_KEY: '0'.repeat(64) });
  });

  test('frontend NODE_ENV and remote-mcp NODE_ENV: production refuses internal names beside public ones', async () => {
    const remoteMcp = { REMOTE_PORT: '0', SYSTEM_KEY: newKey('system').reveal() };
    const rows: readonly [StartService, EnvRecord][] = [
      [startFrontend, { PORT: '0', ...outside }],
      [startRemoteMcp, { ...remoteMcp, ...outside }],
    ];
    for (const [start, env] of rows) {
      await expect(refusal(start, { ...env, NODE_ENV: 'production' })()).rejects.toThrow(
        /PUBLIC_BACKEND_URL must not be the internal name "backend"/,
      );
      await (await refusal(start, { ...env, NODE_ENV: 'development' })()).stop();
    }
  });
});

test('backend PRIVATE_GRAPHDB_URL is the place of its data: a file, or a Dgraph, which is named where none answers', async () => {
  const folder = await newFolder();
  const backend = await backendWith({ PRIVATE_GRAPHDB_URL: `file:${join(folder, 'elsewhere.sqlite')}` });
  await addWorkspace(backend);
  expect(await readdir(folder)).toContain('elsewhere.sqlite');
  const port = await freePort();
  await expect(startTestBackend({ PRIVATE_GRAPHDB_URL: `127.0.0.1:${port}` })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`"127.0.0.1:${port + 1000}" cannot be reached`),
  });
});

describe('backend files', () => {
  const add = `mutation ($w: ID!, $s: ID!, $size: Int!) {
    addSkillFile(workspace: $w, skill: $s, input: { path: "a", digest: "${digestOf('x')}", sizeBytes: $size }) { url }
  }`;
  const skillIn = async (backend: TestBackend) => {
    const w = await addWorkspace(backend);
    const made = await backend.must(
      'mutation ($w: ID!) { createSkill(workspace: $w, input: { name: "files" }) { id } }',
      { w },
    );
    return { w, s: made.createSkill.id };
  };

  test('backend FILES_DIR is where they are kept; without it and without NATS there is no place for them', async () => {
    const folder = await newFolder();
    const backend = await backendWith({ FILES_DIR: join(folder, 'here') });
    const { addSkillFile } = await backend.must(add, { ...(await skillIn(backend)), size: 1 });
    const { pathname, search } = new URL(addSkillFile.url);
    const put = await fetch(backend.url + pathname + search, { method: 'PUT', body: 'x' });
    expect(put.status).toBe(200);
    expect(await readFile(join(folder, 'here', digestOf('x').slice(0, 2), digestOf('x')), 'utf8')).toBe('x');
    await expect(startTestBackend({ FILES_DIR: '' })).rejects.toMatchObject({
      code: 'invalid_input',
      hint: expect.stringContaining('FILES_DIR'),
    });
  });

  test('backend SVC_MAX_FILE_SIZE_MB is the size of the largest', async () => {
    const backend = await backendWith({ SVC_MAX_FILE_SIZE_MB: '1' });
    const skill = await skillIn(backend);
    const offer = async (size: number) =>
      (await backend.ask({ query: add, variables: { ...skill, size }, token: await backend.operatorToken() })).code;
    expect(await offer(1024 * 1024)).toBe(null);
    expect(await offer(1024 * 1024 + 1)).toBe('too_large');
  });
});

test('backend MCP_SERVER_COMMANDS, narrowed, keeps MCP servers added before from starting', async () => {
  const folder = await newFolder();
  const mark = join(folder, 'started');
  /** A backend with a runtime beside it, until both are stopped. */
  const restarted = async (commands: string) => {
    // All but the folder: the graph in it is what the next backend finds.
    for (const close of open.splice(1).reverse()) await close();
    const env = { PRIVATE_GRAPHDB_URL: `file:${join(folder, 'graph.sqlite')}`, MCP_SERVER_COMMANDS: commands };
    const backend = await backendWith(env);
    return { backend, start: await beside.runtime(backend) };
  };

  const first = await restarted('any');
  await addServer(first.backend, ['-e', `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '')`]);
  await first.start({});
  await until(() => existsSync(mark));

  const narrowed = await restarted('npx,uvx');
  rmSync(mark);
  await narrowed.start({});
  const refused = await until(async () => {
    const { workspaces } = await narrowed.backend.must(
      '{ workspaces { nodes { mcpServers { nodes { status reason { code message repair } } } } } }',
    );
    const [seen] = workspaces.nodes[0].mcpServers.nodes;
    return seen.reason?.code === 'command_refused' && seen;
  });
  expect(refused).toMatchObject({
    status: 'Error',
    reason: {
      message: expect.stringContaining('is not one of npx, uvx'),
      repair: expect.stringContaining('MCP_SERVER_COMMANDS'),
    },
  });
  expect(existsSync(mark)).toBe(false);

  const widened = await restarted('any');
  await widened.start({});
  await until(() => existsSync(mark));
});

test('backend PUBLIC_BUS_SERVERS is the address that a registered runtime gets', async () => {
  const backend = await backendWith({ PUBLIC_BUS_SERVERS: 'bus.example.com:4222' });
  const answer = await backend.must(
    'mutation ($w: ID) { registerRuntime(workspace: $w, name: "edge") { busServers } }',
    { w: await addWorkspace(backend) },
  );
  expect(answer.registerRuntime.busServers).toEqual(['bus.example.com:4222']);
});

test('backend IDENTITY_KEY_USAGE_THROTTLE_SECONDS: 0 rewrites the last use with every use, an hour does not', async () => {
  expect(await lastUses('0')).toBe(2);
  expect(await lastUses('3600')).toBe(1);
});

/** How many different last uses two uses of a key leave. */
async function lastUses(seconds: string): Promise<number> {
  const backend = await backendWith({ IDENTITY_KEY_USAGE_THROTTLE_SECONDS: seconds });
  const workspace = await addWorkspace(backend);
  const start = await beside['remote-mcp'](backend);
  const key = await addKey(backend, workspace);
  const seen = new Set<number>();
  for (let use = 0; use < 2; use++) {
    // A remote-mcp of its own each time: none of them remembers the key, so each asks the backend.
    const { service } = await start({});
    await until(async () => (await send(`${service.url}/mcp`, { key, body: ping })).status === 200);
    await service.stop();
    const lastUse = await until(async (): Promise<number | false> => {
      const query = 'query ($w: ID) { workspace(id: $w) { keys { nodes { lastUsedAt } } } }';
      const { workspace: found } = await backend.must(query, { w: workspace });
      const at: number | null = found.keys.nodes[0].lastUsedAt;
      return at !== null && (seconds !== '0' || !seen.has(at)) && at;
    });
    seen.add(lastUse);
  }
  return seen.size;
}

test('backend PUBLIC_BACKEND_URL and backend PUBLIC_MCP_URL are in the handshake', async () => {
  const backend = await backendWith({
    PUBLIC_BACKEND_URL: 'https://api.example.com',
    PUBLIC_MCP_URL: 'https://mcp.example.com/mcp',
  });
  const key = new Secret(await registered(backend, 'remote-mcp'));
  const bus = await backend.hub.connect({ kind: 'system', component: 'remote-mcp', key }, newProcessId());
  const hello = await bus.request(subjects.hello(bus.identity.process), new Uint8Array(), { timeoutMs: 5000 });
  expect(JSON.parse(new TextDecoder().decode(hello.payload))).toEqual({
    backendUrl: 'https://api.example.com',
    mcpUrl: 'https://mcp.example.com/mcp',
  });
  await bus.close();
});

describe('runtime', () => {
  interface Seen {
    readonly name: string;
    readonly available: boolean;
  }
  const isAvailable = (name: string, runtimes: readonly Seen[]) =>
    runtimes.some((runtime) => runtime.name === name && runtime.available);

  test('runtime RUNTIME_KEY makes it the runtime that was registered', async () => {
    const backend = await backendWith();
    const w = await addWorkspace(backend);
    const { registerRuntime } = await backend.must(
      'mutation ($w: ID) { registerRuntime(workspace: $w, name: "edge") { secret } }',
      { w },
    );
    await runtimeWith(backend, { RUNTIME_KEY: registerRuntime.secret });
    const query = 'query ($w: ID) { workspace(id: $w) { runtimes { nodes { name available } } } }';
    await until(async () => isAvailable('edge', (await backend.must(query, { w })).workspace.runtimes.nodes));
  });

  test('runtime SYSTEM_KEY and runtime RUNTIME_NAME make it a runtime of the platform of that name', async () => {
    const backend = await backendWith();
    const key = await registered(backend, 'runtime', ['cloud-of-tests']);
    await runtimeWith(backend, { SYSTEM_KEY: key, RUNTIME_NAME: 'cloud-of-tests' });
    const query = '{ platformRuntimes { nodes { name available } } }';
    await until(async () => isAvailable('cloud-of-tests', (await backend.must(query)).platformRuntimes.nodes));
  });

  test("runtime FORWARD_STDERR puts its MCP servers' stderr into its log, or not", async () => {
    const backend = await backendWith();
    await addServer(backend);
    const start = await beside.runtime(backend);
    const forwarded = ({ logged }: Started) => logged.find((line) => line.name.startsWith('mcp-server.'));
    const telling = await start({ FORWARD_STDERR: 'true' });
    await until(() => forwarded(telling));
    await telling.service.stop();
    const silent = await start({ FORWARD_STDERR: 'false' });
    await until(() => silent.logged.find((line) => line.msg === 'failed'));
    expect(forwarded(silent)).toBeUndefined();
  });

  test('runtime SVC_WORKING_DIR is where the homes of MCP servers are', async () => {
    const backend = await backendWith();
    await addServer(backend);
    const folder = await newFolder();
    await (await beside.runtime(backend))({ SVC_WORKING_DIR: folder });
    await until(async () => (await readdir(join(folder, 'homes')).catch(() => []))[0]);
  });

  test('runtime SKILL_IDS and ROLE_IDS are not read, with one notice', async () => {
    const start = await beside.runtime(await backendWith());
    const { logged } = await start({ SKILL_IDS: 'a', ROLE_IDS: 'b' });
    const warnings = logged.filter((line) => line.level === 'warn' && /SKILL_IDS|ROLE_IDS/.test(JSON.stringify(line)));
    expect(warnings.length).toBe(2);
  });
});

describe('remote-mcp', () => {
  test("remote-mcp SYSTEM_KEY is its only credential: with a runtime's it does not get ready", async () => {
    const backend = await backendWith();
    const right = await (await beside['remote-mcp'](backend))({});
    await until(async () => (await statusOf(right, '/ready')) === 200);
    const wrong = await remoteMcpWith(backend, { SYSTEM_KEY: await registered(backend, 'runtime', ['cloud']) });
    await until(() => wrong.logged.find(({ level }) => level === 'warn' || level === 'error'));
    expect(await statusOf(wrong, '/ready')).toBe(503);
  });

  test.each([
    ['SYSTEM_KEY', { REMOTE_PORT: '0' }],
    ['REMOTE_PORT', { SYSTEM_KEY: newKey('system').reveal() }],
  ])('%s is required', async (name, env) => {
    await expect(refusal(startRemoteMcp, env)()).rejects.toThrow(`${name} is required`);
  });

  test('remote-mcp PRIVATE_BACKEND_URL is where the catalogue comes from', async () => {
    const backend = await backendWith();
    const key = await addKey(backend, await addWorkspace(backend));
    const start = await beside['remote-mcp'](backend);
    const right = await start({});
    const wrong = await start({ PRIVATE_BACKEND_URL: `http://127.0.0.1:${await freePort()}` });
    const clientInfo = { name: 'test', version: '1' };
    const body = rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    // Preloading a skill that nobody knows: only the catalogue tells that it is not there.
    const initialize = async ({ service }: Started) =>
      (await send(`${service.url}/mcp?skillIds=${newId('skill')}`, { key, body })).status;
    expect(await initialize(right)).toBe(403);
    expect(await initialize(wrong)).toBe(503);
  });
});

test('infrastructure BUS_PERSISTENT_MESSAGING keeps sessions in a file, or in memory', async () => {
  const folder = await newFolder();
  const survives = async (file: string | null) => {
    const connect = async () => {
      const hub = await startHub({ file });
      const backend = await hub.connect({ kind: 'backend' }, newProcessId());
      backend.authorize(async (_, process) => ({ kind: 'remote-mcp', process }));
      const bus = await hub.connect({ kind: 'system', component: 'remote-mcp', key: new Secret('') }, newProcessId());
      return { hub, bucket: bus.bucket('sessions', { maxAgeMs: 60_000 }) };
    };
    const before = await connect();
    await before.bucket.put('session', new Uint8Array([1]));
    await before.hub.stop();
    const after = await connect();
    const found = await after.bucket.get('session');
    await after.hub.stop();
    return found !== null;
  };
  expect(await survives(join(folder, 'bus.sqlite'))).toBe(true);
  expect(await survives(null)).toBe(false);
});
