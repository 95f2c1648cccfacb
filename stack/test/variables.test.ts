import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
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

async function runtimeWith(backend: TestBackend, env: EnvRecord): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-variables-'));
  open.push(() => rm(folder, { recursive: true, force: true }));
  return started(startRuntime, backend, { SVC_WORKING_DIR: folder, ...env });
}

async function remoteMcpWith(backend: TestBackend, env: EnvRecord): Promise<Started> {
  return started(startRemoteMcp, backend, { REMOTE_PORT: '0', PRIVATE_BACKEND_URL: backend.url, ...env });
}

async function until<Found>(what: string, look: () => Promise<Found | null> | Found | null): Promise<Found> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const found = await look();
    if (found !== null && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** An MCP server that says something on stderr and ends. */
async function addServer(backend: TestBackend, workspace: string): Promise<void> {
  await backend.must(
    'mutation ($workspace: ID!, $input: McpServerInput!) { createMcpServer(workspace: $workspace, input: $input) { id } }',
    {
      workspace,
      input: { name: 'ends', launch: { command: process.execPath, args: [ending, '1', 'last words'] } },
    },
  );
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

const reaches = async (url: string | null) => (await fetch(new URL('/health', url ?? ''))).status;

describe('frontend', () => {
  const frontendWith = async (env: EnvRecord) => started(startFrontend, await backendWith(), env);

  test('frontend PORT is where it answers, frontend BIND_HOST on which address', async () => {
    const port = await freePort();
    const { service } = await frontendWith({ PORT: String(port), BIND_HOST: secondLoopback.host });
    expect(service.url).toBe(`http://${secondLoopback.inUrl}:${port}`);
    expect(await reaches(service.url)).toBe(200);
  });

  test('frontend LOG_LEVEL sets the level of its log', async () => {
    const telling = await frontendWith({ PORT: '0', LOG_LEVEL: 'info' });
    expect(telling.logged.map(({ msg }) => msg)).toContain('listening');
    const quiet = await frontendWith({ PORT: '0', LOG_LEVEL: 'error' });
    await quiet.service.stop();
    expect(quiet.logged).toEqual([]);
  });

  test('unused variables are logged', async () => {
    const { logged } = await frontendWith({ PORT: '0', METRICS_PORT: '9100' });
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

describe('backend PORT', () => {
  test('is where it answers', async () => {
    const port = await freePort();
    const backend = await backendWith({ PORT: String(port) });
    expect(new URL(backend.url).port).toBe(String(port));
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  });
});

describe('backend PRIVATE_GRAPHDB_URL', () => {
  test('is the place of its data: a file, or a Dgraph, which is named where none answers', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-graph-'));
    open.push(() => rm(folder, { recursive: true, force: true }));
    const backend = await backendWith({ PRIVATE_GRAPHDB_URL: `file:${join(folder, 'elsewhere.sqlite')}` });
    await addWorkspace(backend);
    expect(await readdir(folder)).toContain('elsewhere.sqlite');
    const port = await freePort();
    await expect(startTestBackend({ PRIVATE_GRAPHDB_URL: `127.0.0.1:${port}` })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`"127.0.0.1:${port + 1000}" cannot be reached`),
    });
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
    const folder = await mkdtemp(join(tmpdir(), 'svc-files-'));
    open.push(() => rm(folder, { recursive: true, force: true }));
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

describe('backend MCP_SERVER_COMMANDS', () => {
  test('narrowed, it keeps MCP servers added before from starting', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-commands-'));
    open.push(() => rm(folder, { recursive: true, force: true }));
    const mark = join(folder, 'started');
    /** A backend with a runtime beside it, until both are stopped. */
    const restarted = async (commands: string) => {
      // All but the folder: the graph in it is what the next backend finds.
      for (const close of open.splice(1).reverse()) await close();
      const env = { PRIVATE_GRAPHDB_URL: `file:${join(folder, 'graph.sqlite')}`, MCP_SERVER_COMMANDS: commands };
      const backend = await backendWith(env);
      const key = await registered(backend, 'runtime', ['cloud']);
      return { backend, startRuntime: () => runtimeWith(backend, { SYSTEM_KEY: key, RUNTIME_NAME: 'cloud' }) };
    };
    const told = ({ must }: TestBackend, what: string, isSo: (seen: Seen) => boolean) =>
      until(what, async () => {
        const { workspaces } = await must(
          '{ workspaces { nodes { mcpServers { nodes { status reason { code message repair } } } } } }',
        );
        const seen: Seen = workspaces.nodes[0].mcpServers.nodes[0];
        return isSo(seen) ? seen : null;
      });
    interface Seen {
      readonly status: string;
      readonly reason: { readonly code: string; readonly message: string; readonly repair: string } | null;
    }

    const first = await restarted('any');
    const marking = `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '')`;
    await first.backend.must(
      'mutation ($workspace: ID!, $input: McpServerInput!) { createMcpServer(workspace: $workspace, input: $input) { id } }',
      {
        workspace: await addWorkspace(first.backend),
        input: { name: 'marks', launch: { command: process.execPath, args: ['-e', marking] } },
      },
    );
    await first.startRuntime();
    await until('a start', () => existsSync(mark) || null);

    const narrowed = await restarted('npx,uvx');
    rmSync(mark);
    await narrowed.startRuntime();
    const isRefused = ({ reason }: Seen) => reason?.code === 'command_refused';
    const { status, reason } = await told(narrowed.backend, 'a refusal', isRefused);
    expect(status).toBe('Error');
    expect(reason).toMatchObject({
      message: expect.stringContaining('is not one of npx, uvx'),
      repair: expect.stringContaining('MCP_SERVER_COMMANDS'),
    });
    expect(existsSync(mark)).toBe(false);

    const widened = await restarted('any');
    await widened.startRuntime();
    await until('a start', () => existsSync(mark) || null);
  });
});

describe('backend PUBLIC_BUS_SERVERS', () => {
  test('is the address that a registered runtime gets', async () => {
    const backend = await backendWith({ PUBLIC_BUS_SERVERS: 'bus.example.com:4222' });
    const workspace = await addWorkspace(backend);
    const answer = await backend.must(
      'mutation ($w: ID) { registerRuntime(workspace: $w, name: "edge") { busServers } }',
      { w: workspace },
    );
    expect(answer.registerRuntime.busServers).toEqual(['bus.example.com:4222']);
  });
});

describe('backend IDENTITY_KEY_USAGE_THROTTLE_SECONDS', () => {
  test('0 rewrites the last use with every use, an hour does not', async () => {
    expect(await lastUses('0')).toBe(2);
    expect(await lastUses('3600')).toBe(1);
  });

  /** How many different last uses two uses of a key leave. */
  async function lastUses(seconds: string): Promise<number> {
    const backend = await backendWith({ IDENTITY_KEY_USAGE_THROTTLE_SECONDS: seconds });
    const workspace = await addWorkspace(backend);
    const systemKey = await registered(backend, 'remote-mcp');
    const { createKey } = await backend.must(
      'mutation ($w: ID!) { createKey(workspace: $w, input: { name: "k" }) { secret } }',
      { w: workspace },
    );
    const seen = new Set<number>();
    for (let use = 0; use < 2; use++) {
      // A remote-mcp of its own each time: none of them remembers the key, so each asks the backend.
      const { service } = await remoteMcpWith(backend, { SYSTEM_KEY: systemKey });
      await until('a ping', async () => ((await ping(service, createKey.secret)) === 200 ? true : null));
      await service.stop();
      seen.add(
        await until('a last use', async () => {
          const { workspace: found } = await backend.must(
            'query ($w: ID) { workspace(id: $w) { keys { nodes { lastUsedAt } } } }',
            { w: workspace },
          );
          const at: number | null = found.keys.nodes[0].lastUsedAt;
          return at !== null && (seconds !== '0' || !seen.has(at)) ? at : null;
        }),
      );
    }
    return seen.size;
  }
});

async function ping(
  service: RunningService,
  key: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const response = await fetch(new URL('/mcp', service.url ?? ''), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  await response.arrayBuffer();
  return response.status;
}

describe('public addresses', () => {
  test('backend PUBLIC_BACKEND_URL and backend PUBLIC_MCP_URL are in the handshake', async () => {
    const backend = await backendWith({
      PUBLIC_BACKEND_URL: 'https://api.example.com',
      PUBLIC_MCP_URL: 'https://mcp.example.com/mcp',
    });
    const systemKey = await registered(backend, 'remote-mcp');
    const bus = await backend.hub.connect(
      { kind: 'system', component: 'remote-mcp', key: new Secret(systemKey) },
      newProcessId(),
    );
    const hello = await bus.request(subjects.hello(bus.identity.process), new Uint8Array(), { timeoutMs: 5000 });
    expect(JSON.parse(new TextDecoder().decode(hello.payload))).toEqual({
      backendUrl: 'https://api.example.com',
      mcpUrl: 'https://mcp.example.com/mcp',
    });
    await bus.close();
  });
});

describe('runtime', () => {
  test('runtime RUNTIME_KEY makes it the runtime that was registered', async () => {
    const backend = await backendWith();
    const workspace = await addWorkspace(backend);
    const { registerRuntime } = await backend.must(
      'mutation ($w: ID) { registerRuntime(workspace: $w, name: "edge") { secret } }',
      { w: workspace },
    );
    await runtimeWith(backend, { RUNTIME_KEY: registerRuntime.secret });
    await until('the runtime to be available', async () => {
      const answer = await backend.must(
        'query ($w: ID) { workspace(id: $w) { runtimes { nodes { name available } } } }',
        { w: workspace },
      );
      return (
        answer.workspace.runtimes.nodes.find(
          (runtime: { name: string; available: boolean }) => runtime.name === 'edge' && runtime.available,
        ) ?? null
      );
    });
  });

  test('runtime SYSTEM_KEY and runtime RUNTIME_NAME make it a runtime of the platform of that name', async () => {
    const backend = await backendWith();
    const key = await registered(backend, 'runtime', ['cloud-of-tests']);
    await runtimeWith(backend, { SYSTEM_KEY: key, RUNTIME_NAME: 'cloud-of-tests' });
    await until('the runtime to be available', async () => {
      const answer = await backend.must('{ platformRuntimes { nodes { name available } } }');
      return (
        answer.platformRuntimes.nodes.find(
          (runtime: { name: string; available: boolean }) => runtime.name === 'cloud-of-tests' && runtime.available,
        ) ?? null
      );
    });
  });

  test('runtime REMOTE_PORT is where it answers /health and nothing else; without it there is no web service', async () => {
    const backend = await backendWith();
    const key = await registered(backend, 'runtime', ['cloud']);
    const port = await freePort();
    const { service } = await runtimeWith(backend, {
      SYSTEM_KEY: key,
      RUNTIME_NAME: 'cloud',
      REMOTE_PORT: String(port),
    });
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${port}/mcp`)).status).toBe(404);
    await service.stop();
    const silent = await runtimeWith(backend, { SYSTEM_KEY: key, RUNTIME_NAME: 'cloud' });
    expect(silent.service.url).toBeNull();
  });

  test('runtime BIND_HOST is the address it answers on', async () => {
    const backend = await backendWith();
    const identity = { SYSTEM_KEY: await registered(backend, 'runtime', ['cloud']), RUNTIME_NAME: 'cloud' };
    const { service } = await runtimeWith(backend, { ...identity, REMOTE_PORT: '0', BIND_HOST: secondLoopback.host });
    expect(new URL(service.url ?? '').hostname).toBe(secondLoopback.inUrl);
    expect(await reaches(service.url)).toBe(200);
  });

  test('runtime LOG_LEVEL sets the level of its log, runtime LOG_LEVELS of single loggers', async () => {
    const backend = await backendWith();
    const identity = { SYSTEM_KEY: await registered(backend, 'runtime', ['cloud']), RUNTIME_NAME: 'cloud' };
    const quiet = await runtimeWith(backend, { ...identity, LOG_LEVEL: 'error' });
    await quiet.service.stop();
    expect(quiet.logged).toEqual([]);
    const some = await runtimeWith(backend, { ...identity, LOG_LEVEL: 'error', LOG_LEVELS: 'bus=info' });
    await until('a line of the bus', () => some.logged.find((line) => line.name === 'bus') ?? null);
    await some.service.stop();
    expect(new Set(some.logged.map((line) => line.name))).toEqual(new Set(['bus']));
  });

  test("runtime FORWARD_STDERR puts its MCP servers' stderr into its log, or not", async () => {
    const backend = await backendWith();
    const workspace = await addWorkspace(backend);
    await addServer(backend, workspace);
    const identity = { SYSTEM_KEY: await registered(backend, 'runtime', ['cloud']), RUNTIME_NAME: 'cloud' };
    const forwarded = ({ logged }: Started) => logged.find((line) => line.name.startsWith('mcp-server.')) ?? null;
    const telling = await runtimeWith(backend, { ...identity, FORWARD_STDERR: 'true' });
    await until('a line of stderr', () => forwarded(telling));
    await telling.service.stop();
    const silent = await runtimeWith(backend, { ...identity, FORWARD_STDERR: 'false' });
    await until('a failure', () => silent.logged.find((line) => line.msg === 'failed') ?? null);
    expect(forwarded(silent)).toBeNull();
  });

  test('runtime SVC_WORKING_DIR is where the homes of MCP servers are', async () => {
    const backend = await backendWith();
    const workspace = await addWorkspace(backend);
    await addServer(backend, workspace);
    const folder = await mkdtemp(join(tmpdir(), 'svc-working-'));
    open.push(() => rm(folder, { recursive: true, force: true }));
    const identity = { SYSTEM_KEY: await registered(backend, 'runtime', ['cloud']), RUNTIME_NAME: 'cloud' };
    await runtimeWith(backend, { ...identity, SVC_WORKING_DIR: folder });
    await until('a home', async () => (await readdir(join(folder, 'homes')).catch(() => []))[0] ?? null);
  });

  test('runtime USER_KEY and MCP_REMOTE_ENABLED stop the boot by name', async () => {
    const identity = { SYSTEM_KEY: newKey('system').reveal(), RUNTIME_NAME: 'cloud' };
    await expect(refusal(startRuntime, { ...identity, USER_KEY: 'x' })()).rejects.toThrow(
      /USER_KEY is rejected by runtime/,
    );
    await expect(refusal(startRuntime, { ...identity, MCP_REMOTE_ENABLED: 'true' })()).rejects.toThrow(
      /MCP_REMOTE_ENABLED is rejected by runtime/,
    );
  });

  test('runtime SKILL_IDS and ROLE_IDS are not read, with one notice', async () => {
    const backend = await backendWith();
    const identity = { SYSTEM_KEY: await registered(backend, 'runtime', ['cloud']), RUNTIME_NAME: 'cloud' };
    const { logged } = await runtimeWith(backend, { ...identity, SKILL_IDS: 'a', ROLE_IDS: 'b' });
    const warnings = logged.filter((line) => line.level === 'warn' && /SKILL_IDS|ROLE_IDS/.test(JSON.stringify(line)));
    expect(warnings.length).toBe(2);
  });
});

describe('remote-mcp', () => {
  test("remote-mcp SYSTEM_KEY is its only credential: without it, or with a runtime's, it does not get ready", async () => {
    const backend = await backendWith();
    const right = await remoteMcpWith(backend, { SYSTEM_KEY: await registered(backend, 'remote-mcp') });
    const ready = async ({ service }: Started) => (await fetch(new URL('/ready', service.url ?? ''))).status;
    await until('readiness', async () => ((await ready(right)) === 200 ? true : null));
    const wrong = await remoteMcpWith(backend, { SYSTEM_KEY: await registered(backend, 'runtime', ['cloud']) });
    await until(
      'a refusal in the log',
      () => wrong.logged.find((line) => line.level === 'warn' || line.level === 'error') ?? null,
    );
    expect(await ready(wrong)).toBe(503);
    await expect(refusal(startRemoteMcp, { REMOTE_PORT: '0' })()).rejects.toThrow(/SYSTEM_KEY is required/);
  });

  test('remote-mcp RUNTIME_KEY and RUNTIME_NAME stop the boot by name', async () => {
    const env = { SYSTEM_KEY: newKey('system').reveal(), REMOTE_PORT: '0' };
    await expect(refusal(startRemoteMcp, { ...env, RUNTIME_KEY: newKey('runtime').reveal() })()).rejects.toThrow(
      /RUNTIME_KEY is rejected by remote-mcp/,
    );
    await expect(refusal(startRemoteMcp, { ...env, RUNTIME_NAME: 'x' })()).rejects.toThrow(
      /RUNTIME_NAME is rejected by remote-mcp/,
    );
  });

  test('remote-mcp REMOTE_PORT is where agents are answered, and required', async () => {
    const backend = await backendWith();
    const port = await freePort();
    await remoteMcpWith(backend, { SYSTEM_KEY: await registered(backend, 'remote-mcp'), REMOTE_PORT: String(port) });
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    await expect(refusal(startRemoteMcp, { SYSTEM_KEY: newKey('system').reveal() })()).rejects.toThrow(
      /REMOTE_PORT is required/,
    );
  });

  test('remote-mcp BIND_HOST is the address it answers on', async () => {
    const backend = await backendWith();
    const { service } = await remoteMcpWith(backend, {
      SYSTEM_KEY: await registered(backend, 'remote-mcp'),
      BIND_HOST: secondLoopback.host,
    });
    expect(new URL(service.url ?? '').hostname).toBe(secondLoopback.inUrl);
    expect(await reaches(service.url)).toBe(200);
  });

  test('remote-mcp PRIVATE_BACKEND_URL is where the catalogue comes from', async () => {
    const backend = await backendWith();
    const workspace = await addWorkspace(backend);
    const systemKey = await registered(backend, 'remote-mcp');
    const { createKey } = await backend.must(
      'mutation ($w: ID!) { createKey(workspace: $w, input: { name: "k" }) { secret } }',
      { w: workspace },
    );
    const right = await remoteMcpWith(backend, { SYSTEM_KEY: systemKey });
    const wrong = await remoteMcpWith(backend, {
      SYSTEM_KEY: systemKey,
      PRIVATE_BACKEND_URL: `http://127.0.0.1:${await freePort()}`,
    });
    // Preloading a skill that nobody knows: only the catalogue tells that it is not there.
    expect(await initialize(right.service, createKey.secret)).toBe(403);
    expect(await initialize(wrong.service, createKey.secret)).toBe(503);
  });

  test('remote-mcp LOG_LEVEL sets the level of its log, remote-mcp LOG_LEVELS of single loggers', async () => {
    const backend = await backendWith();
    const systemKey = await registered(backend, 'remote-mcp');
    const quiet = await remoteMcpWith(backend, { SYSTEM_KEY: systemKey, LOG_LEVEL: 'error' });
    await until('readiness', async () =>
      (await fetch(new URL('/ready', quiet.service.url ?? ''))).status === 200 ? true : null,
    );
    expect(quiet.logged).toEqual([]);
    const some = await remoteMcpWith(backend, { SYSTEM_KEY: systemKey, LOG_LEVEL: 'error', LOG_LEVELS: 'b*=info' });
    await until('a line of the bus', () => some.logged.find((line) => line.name === 'bus') ?? null);
    expect(new Set(some.logged.map((line) => line.name))).toEqual(new Set(['bus']));
  });
});

async function initialize(service: RunningService, key: string): Promise<number> {
  const response = await fetch(new URL(`/mcp?skillIds=${newId('skill')}`, service.url ?? ''), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }),
  });
  await response.arrayBuffer();
  return response.status;
}

test('infrastructure BUS_PERSISTENT_MESSAGING keeps sessions in a file, or in memory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bus-'));
  open.push(() => rm(folder, { recursive: true, force: true }));
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
