import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Docker from 'dockerode';
import { describe, expect, test, vi } from 'vitest';
import { randomText } from '../../contracts/ids.ts';
import { endLeftovers } from '../launchers/leftovers.ts';
import { createLook } from '../launchers/processes.ts';
import { Platform, script } from './platform.ts';
import { containing, dockerSocket, scriptInImage } from './sandboxed.ts';

vi.setConfig({ testTimeout: 60_000 });

const nodeModules = path.resolve(import.meta.dirname, '../../../node_modules');
const child = (command: string, ...args: string[]) => ({ kind: 'child' as const, command, args, cwd: null, env: {} });
const node = (program: string) => child('node', '-e', program);

/** A unique name: other tests use the same Docker. */
const newName = () => `one-${randomText(8).toLowerCase()}`;

describe.runIf(dockerSocket !== null)('in a container', () => {
  const docker = new Docker({ socketPath: dockerSocket ?? '', host: undefined, port: undefined, protocol: 'http' });
  const containersOf = (name: string) =>
    docker.listContainers({ all: true, filters: { label: [`svc.mcp-server=${name}`] } });

  test('Docker reveals no secret of it, keeps no output of it, and is not reachable from it', async () => {
    await using platform = await Platform.open();
    const name = newName();
    platform.assign({ [name]: scriptInImage('curious', ['planted-argument'], { TOKEN: 'planted-token' }) });
    const tries = { tries: [['connect', dockerSocket]] };
    const openly = await platform.startRuntime();
    await platform.connected(name);
    expect(await platform.say(name, tries)).toBe('["done"]');
    await openly.stop();

    const SVC_ALLOWED_PATHS = `${containing.SVC_ALLOWED_PATHS}:${path.dirname(dockerSocket ?? '')}`;
    await platform.startRuntime({ ...containing, SVC_ALLOWED_PATHS });
    await platform.connected(name);
    expect(await platform.say(name, tries)).toBe('["ECONNREFUSED"]');
    const environments = await platform.say(name, { tries: [['read', '/proc/self/environ']] });
    expect(environments).toContain('planted-token');
    expect(environments).not.toMatch(/TINI|DOCKER|RUNTIME_KEY|RTK_/);
    const [found, ...others] = await containersOf(name);
    expect(others).toEqual([]);
    const container = docker.getContainer(found?.Id ?? '');
    const told = await container.inspect();
    expect(JSON.stringify(told)).not.toMatch(/planted/);
    expect(JSON.stringify(await container.top())).toContain('curious');
    expect(told.HostConfig).toMatchObject({
      ...{ ReadonlyRootfs: true, CapDrop: ['ALL'], CapAdd: null, Privileged: false, PidsLimit: 512 },
      ...{ SecurityOpt: ['no-new-privileges'], Memory: 1024 * 1024 * 1024, LogConfig: { Type: 'none' } },
    });
  });

  test('the whole tree ends with the MCP server, and nothing of it is left', async () => {
    await using platform = await Platform.open();
    const name = newName();
    platform.assign({ [name]: scriptInImage('grandchildren') });
    const running = await platform.startRuntime(containing);
    await platform.connected(name);
    expect(JSON.parse(await platform.say(name, {}))).toHaveLength(4);
    expect(await containersOf(name)).toHaveLength(1);
    await running.stop();
    expect(await containersOf(name)).toEqual([]);
    expect(await readdir(path.join(platform.workingDir, 'children'))).toEqual([]);
  });

  test('a killed one is restarted', async () => {
    await using platform = await Platform.open();
    const name = newName();
    platform.assign({ [name]: scriptInImage('echo') });
    await platform.startRuntime(containing);
    await platform.connected(name);
    const [before] = await containersOf(name);
    await docker.getContainer(before?.Id ?? '').kill();
    await platform.reported(name, ({ status, restarts }) => status === 'Connected' && restarts === 1);
    const after = await containersOf(name);
    expect(after).toHaveLength(1);
    expect(after[0]?.Id).not.toBe(before?.Id);
  });

  test('kill -9 of the runtime ends those that end with their input, and the next runtime ends the rest', async () => {
    const workingDir = await mkdtemp(path.join(tmpdir(), 'svc-contained-'));
    const [listening, stubborn] = [newName(), newName()];
    const file = path.join(import.meta.dirname, 'children', 'killed-runtime.mjs');
    const args = [file, workingDir, JSON.stringify({ socket: dockerSocket, image: containing.MCP_SERVER_IMAGE })];
    const host = spawn(process.execPath, [...args, listening, stubborn], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(host.stdout, 'data');
    expect([...(await containersOf(listening)), ...(await containersOf(stubborn))]).toHaveLength(2);
    host.kill('SIGKILL');
    await vi.waitFor(async () => expect(await containersOf(listening)).toEqual([]), { timeout: 10_000 });
    expect(await containersOf(stubborn)).toHaveLength(1);
    expect(await endLeftovers(workingDir, createLook())).toBe(1);
    expect(await containersOf(stubborn)).toEqual([]);
    expect(await readdir(path.join(workingDir, 'children'))).toEqual([]);
    await rm(workingDir, { recursive: true });
  });

  test('one that handles SIGTERM has time to finish', async () => {
    await using platform = await Platform.open();
    const said =
      "setTimeout(() => { require('fs').writeFileSync(process.env.HOME + '/last', 'said'); process.exit(0); }, 200)";
    const echo = path.join(import.meta.dirname, 'children', 'echo.mjs');
    platform.assign({
      one: node(`process.on('SIGTERM', () => ${said}); setInterval(() => {}, 1000); import(${JSON.stringify(echo)})`),
    });
    const running = await platform.startRuntime(containing);
    await platform.connected('one');
    await running.stop();
    expect(await readFile(path.join(platform.workingDir, 'homes', platform.idOf('one'), 'last'), 'utf8')).toBe('said');
  });

  test('its end is explained as without a container', async () => {
    const ends = {
      exits: scriptInImage('exits', ['3', 'Error: API_KEY is required']),
      zero: scriptInImage('exits', ['0', 'said this']),
      killed: child('sh', '-c', 'kill -9 $$'),
      missing: child('node', '/no/such/script.mjs'),
    };
    const told: Record<string, unknown>[] = [];
    for (const env of [{}, containing]) {
      await using platform = await Platform.open();
      platform.assign(ends);
      await platform.startRuntime(env);
      const one: Record<string, unknown> = {};
      for (const name of Object.keys(ends)) {
        const { reason, stderr } = await platform.reported(name, ({ status }) => status === 'Error');
        one[name] = { code: reason?.code, message: reason?.message, stderr };
      }
      told.push(one);
    }
    expect(told[1]).toEqual(told[0]);
    expect(told[1]).toMatchObject({ exits: { code: 'setting_missing' }, killed: { code: 'killed' } });
  });

  test('a command missing in the image, and too much memory, are explained', async () => {
    await using platform = await Platform.open();
    const grow = 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))';
    platform.assign({ uvx: child('uvx', 'x'), machine: script('echo'), big: node(grow) });
    await platform.startRuntime({ ...containing, MCP_SERVER_MEMORY_MAX_MB: '64' });
    for (const name of ['uvx', 'machine']) {
      const { reason } = await platform.reported(name, ({ status }) => status === 'Error');
      expect(reason).toMatchObject({
        code: 'command_not_found',
        message: expect.stringContaining('the image "node:24.21.0-bookworm-slim" has no such command'),
        repair: expect.stringContaining('images.base'),
      });
    }
    const { reason } = await platform.reported('big', ({ status }) => status === 'Error');
    expect(reason).toMatchObject({ code: 'killed', repair: expect.stringContaining('memory') });
  });

  test('servers of packages work: by node in an allowed folder, and by npx', async () => {
    await using platform = await Platform.open();
    const documents = await mkdtemp(path.join(tmpdir(), 'svc-documents-'));
    await writeFile(path.join(documents, 'a.txt'), 'in a document');
    const project = path.join(documents, 'project');
    await mkdir(project);
    await symlink(nodeModules, path.join(project, 'node_modules'));
    const filesystem = path.join(nodeModules, '@modelcontextprotocol/server-filesystem/dist/index.js');
    platform.assign({
      node: { ...child('node', filesystem, '.'), cwd: documents },
      npx: { ...child('npx', '--no', 'mcp-server-memory'), cwd: project },
    });
    await platform.startRuntime({ ...containing, SVC_ALLOWED_PATHS: nodeModules });
    await platform.connected('node');
    const read = await platform.say('node', { path: path.join(documents, 'a.txt') }, 'read_text_file');
    expect(read).toBe('in a document');
    const { tools } = await platform.connected('npx');
    expect(tools.map(({ name }) => name)).toContain('create_entities');
    await rm(documents, { recursive: true });
  });

  test('a result of megabytes arrives complete, and so does a request', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: scriptInImage('echo') });
    await platform.startRuntime(containing);
    await platform.connected('one');
    const text = 'é'.repeat(300_000);
    expect(await platform.say('one', { text })).toBe(`echo: ${text}`);
  });

  test('a missing image is named', async () => {
    await using platform = await Platform.open();
    platform.assign({ one: scriptInImage('echo') });
    await platform.startRuntime({ ...containing, MCP_SERVER_IMAGE: 'no-such-image:1.0.0' });
    const { reason } = await platform.reported('one', ({ status }) => status === 'Error');
    expect(reason).toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('has no image "no-such-image:1.0.0"'),
      repair: expect.stringContaining('docker pull no-such-image:1.0.0'),
    });
  });

  test('a stopped Docker is explained and waited for', async () => {
    await using platform = await Platform.open();
    const name = newName();
    const socket = path.join(platform.workingDir, 'docker.sock');
    const way = await openWay(socket);
    platform.assign({ [name]: scriptInImage('echo') });
    await platform.startRuntime({ ...containing, MCP_SERVER_DOCKER_SOCKET: socket });
    await platform.connected(name);
    way.close();
    const { reason } = await platform.reported(name, ({ status }) => status === 'Error');
    expect(reason).toMatchObject({ code: 'container_lost', message: expect.stringContaining(socket) });
    await using _ = await openWay(socket);
    await platform.reported(name, ({ status, restarts }) => status === 'Connected' && restarts > 0);
    await vi.waitFor(async () => expect(await containersOf(name)).toHaveLength(1), { timeout: 10_000 });
  });
});

describe('without a container nothing runs', () => {
  test.each([
    ['there is no socket', 'none.sock', 'Docker is not running: there is no socket'],
    ['refuses connections', 'plain', 'Docker is stopped: its socket'],
  ])('because %s', async (_name, file, what) => {
    await using platform = await Platform.open();
    await writeFile(path.join(platform.workingDir, 'plain'), '');
    platform.assign({ one: scriptInImage('echo') });
    const socket = path.join(platform.workingDir, file);
    await platform.startRuntime({ ...containing, MCP_SERVER_DOCKER_SOCKET: socket });
    const { reason } = await platform.reported('one', ({ status }) => status === 'Error');
    expect(reason).toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining(`${what} "${socket}"`),
      repair: expect.stringContaining('systemctl start docker'),
    });
  });
});

/** A socket that leads to Docker's until it is closed. */
async function openWay(socket: string) {
  const open = new Set<Socket>();
  const server = createServer((one) => {
    const other = connect(dockerSocket ?? '');
    for (const [end, far] of [
      [one, other],
      [other, one],
    ] as const) {
      open.add(end);
      end.on('error', () => {}).on('close', () => far.destroy());
      end.pipe(far);
    }
  });
  await once(server.listen(socket), 'listening');
  const close = () => {
    server.close();
    for (const one of open) one.destroy();
  };
  return { close, [Symbol.asyncDispose]: async () => close() };
}
