import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dockerRefusal, statusOf } from '../../../services/contracts/docker.ts';
import { SvcError } from '../../../services/contracts/errors.ts';
import { connectTo, connectToDaemon } from './daemon.ts';
import { findDaemonAddress } from './daemon-address.ts';
import { startFakeDaemon } from './test/fake-daemon.ts';

let home = '';
let daemons: AsyncDisposableStack;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-daemon-'));
  daemons = new AsyncDisposableStack();
});
afterEach(async () => {
  await daemons[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

/** A daemon on a socket below the home folder that answers these paths, and hangs up on others of a container. */
async function listen(path: string, answers: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const daemon = await startFakeDaemon(
    ({ url = '' }, response) => {
      const answer = answers[url.replace(/^\/v[\d.]+/, '')];
      if (url.includes('/containers/hangs')) return response.destroy();
      response.writeHead(answer === undefined ? 500 : 200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify(answer ?? { message: 'driver failed: out of addresses' }));
    },
    join(home, path),
  );
  return daemons.use(daemon).socket;
}

function writeContext(name: string, host: string): void {
  const folder = join(home, '.docker/contexts/meta', createHash('sha256').update(name).digest('hex'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'meta.json'), JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }));
}

async function refusal(env: Record<string, string>): Promise<SvcError> {
  const error = await connectToDaemon({ HOME: home, ...env }).catch((thrown: unknown) => thrown);
  if (error instanceof SvcError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

describe('the daemon that is asked', () => {
  test('is the one that DOCKER_HOST names, whatever other sockets exist', async () => {
    await listen('.docker/run/docker.sock');
    const found = findDaemonAddress({ HOME: home, DOCKER_HOST: 'unix:///elsewhere/docker.sock' });
    expect(found).toEqual({ socket: '/elsewhere/docker.sock', saidBy: 'DOCKER_HOST' });
  });

  test('is the one of the chosen context', () => {
    writeContext('colima', 'unix:///home-of-colima/docker.sock');
    writeFileSync(join(home, '.docker/config.json'), JSON.stringify({ currentContext: 'colima' }));
    expect(findDaemonAddress({ HOME: home })?.socket).toBe('/home-of-colima/docker.sock');
    expect(() => findDaemonAddress({ HOME: home, DOCKER_CONTEXT: 'lost' })).toThrow(
      'There is no context "lost" of Docker.',
    );
  });

  test('is not on another machine', () => {
    for (const host of ['tcp://10.0.0.1:2376', 'ssh://me@there', 'npipe:////./pipe/docker', 'unix://']) {
      expect(() => findDaemonAddress({ HOME: home, DOCKER_HOST: host })).toThrow(
        'svc needs a Docker socket of this machine',
      );
    }
  });

  test.skipIf(existsSync('/var/run/docker.sock'))('is the first usual one that exists, or is missing', async () => {
    expect(findDaemonAddress({ HOME: home })).toBeNull();
    expect(await refusal({})).toMatchObject({
      code: 'unavailable',
      message: 'No Docker runs on this machine: none of its usual sockets exists.',
      hint: expect.stringContaining('--engine process'),
    });
    await listen('.colima/default/docker.sock');
    const rootless = await listen('run/docker.sock');
    const found = findDaemonAddress({ HOME: home, XDG_RUNTIME_DIR: join(home, 'run') });
    expect(found).toEqual({ socket: rootless, saidBy: 'the usual place' });
  });
});

const docker = {
  '/version': { ApiVersion: '1.41', Components: [{ Name: 'Engine' }] },
  '/info': { ID: 'A', SecurityOptions: ['name=seccomp,profile=default'], MemoryLimit: true, PidsLimit: true },
};

describe('what is wrong with it is told apart', () => {
  const hostOf = (socket: string) => ({ DOCKER_HOST: `unix://${socket}` });

  test.each([
    { found: { isRootless: false, shortcomings: [] }, info: {} },
    {
      found: { isRootless: true, shortcomings: ['This Docker does not limit memory: a container may use all of it.'] },
      info: { SecurityOptions: ['name=rootless'], MemoryLimit: false },
    },
  ])('nothing is: $found', async ({ found, info }) => {
    const socket = await listen('d.sock', { ...docker, '/info': { ...docker['/info'], ...info } });
    expect(await connectToDaemon({ HOME: home, ...hostOf(socket) })).toMatchObject({ id: 'A', ...found });
  });

  test('it does not exist, or stopped', async () => {
    expect(await refusal(hostOf(join(home, 'none.sock')))).toMatchObject({
      code: 'unavailable',
      message: `Docker is not running: there is no socket "${join(home, 'none.sock')}" (DOCKER_HOST).`,
    });
    const socket = await listen('d.sock');
    // A killed daemon leaves its socket. Closing the server would remove it.
    writeFileSync(join(home, 'plain'), '');
    expect((await refusal(hostOf(join(home, 'plain')))).message).toContain('Docker is stopped: its socket');
    expect((await refusal(hostOf(socket))).message).toContain('gives an unexpected answer');
  });

  test.each<[string, object, RegExp]>([
    [
      'Podman',
      { '/version': { ApiVersion: '1.41', Components: [{ Name: 'Podman Engine' }] } },
      /Podman answers at ".*", and engine: docker needs Docker/,
    ],
    ['too old', { '/version': { ApiVersion: '1.40' } }, /is older than 20\.10 \(its interface is 1\.40\)/],
    ['with other users', { '/info': { ...docker['/info'], SecurityOptions: ['name=userns'] } }, /userns-remap/],
    ['something else', { '/version': { hello: 1 } }, /is not Docker/],
  ])('it is %s', async (_, answers, message) => {
    const socket = await listen('d.sock', { ...docker, ...answers });
    expect(await refusal(hostOf(socket))).toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(message),
    });
  });
});

test('a daemon that stops between two requests is reported in words, with the repair', async () => {
  const socket = await listen('docker.sock', docker);
  const { docker: connected } = await connectTo({ socket, saidBy: 'DOCKER_HOST' });
  await expect(connected.getContainer('hangs').inspect()).rejects.toMatchObject({
    code: 'unavailable',
    message: `Docker at "${socket}" (DOCKER_HOST) gives an unexpected answer: the connection was closed by the other side.`,
    hint: 'Check its state: docker info.',
  });
  await daemons.disposeAsync();
  await expect(connected.listContainers()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^Docker (is not running: there is no socket|at) ".*docker\.sock"/),
  });
});

test('a refusal of the daemon keeps its status for callers, and has a general message otherwise', async () => {
  const { docker: connected } = await connectTo({ socket: await listen('d.sock', docker), saidBy: 'DOCKER_HOST' });
  const refused: unknown = await connected.listContainers().catch((error: unknown) => error);
  expect(statusOf(refused)).toBe(500);
  expect(dockerRefusal(refused)).toMatchObject({
    code: 'unavailable',
    message: 'Docker refused the request: driver failed: out of addresses.',
  });
  expect(dockerRefusal(new Error('(HTTP code 500) of somebody else'))).toBeNull();
});
