import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dockerRefusal, statusOf } from '../../../services/contracts/docker.ts';
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

/** Starts a daemon on a socket below the home folder. It hangs up for the container `hangs`, and fails other paths. */
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

const connect = (socket: string) => connectToDaemon({ HOME: home, DOCKER_HOST: `unix://${socket}` });

describe('the daemon that is asked', () => {
  test('is the one that DOCKER_HOST names, whatever other sockets exist, and the one of the chosen context', async () => {
    await listen('.docker/run/docker.sock');
    const found = findDaemonAddress({ HOME: home, DOCKER_HOST: 'unix:///elsewhere/docker.sock' });
    expect(found).toEqual({ socket: '/elsewhere/docker.sock', saidBy: 'DOCKER_HOST' });
    const folder = join(home, '.docker/contexts/meta', createHash('sha256').update('colima').digest('hex'));
    mkdirSync(folder, { recursive: true });
    const context = { Name: 'colima', Endpoints: { docker: { Host: 'unix:///home-of-colima/docker.sock' } } };
    writeFileSync(join(folder, 'meta.json'), JSON.stringify(context));
    writeFileSync(join(home, '.docker/config.json'), JSON.stringify({ currentContext: 'colima' }));
    expect(findDaemonAddress({ HOME: home })?.socket).toBe('/home-of-colima/docker.sock');
  });

  test.each([
    { DOCKER_CONTEXT: 'lost', message: 'There is no context "lost" of Docker.' },
    ...['tcp://10.0.0.1:2376', 'ssh://me@there', 'npipe:////./pipe/docker', 'unix://'].map((DOCKER_HOST) => ({
      DOCKER_HOST,
      message: 'svc needs a Docker socket of this machine',
    })),
  ])('is neither unknown nor on another machine: %o', ({ message, ...env }) => {
    expect(() => findDaemonAddress({ HOME: home, ...env })).toThrow(message);
  });

  test.skipIf(existsSync('/var/run/docker.sock'))('is the first usual one that exists, or is missing', async () => {
    await expect(connectToDaemon({ HOME: home })).rejects.toMatchObject({
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
  test.each([
    { found: { isRootless: false, shortcomings: [] }, info: {} },
    {
      found: { isRootless: true, shortcomings: ['This Docker does not limit memory: a container may use all of it.'] },
      info: { SecurityOptions: ['name=rootless'], MemoryLimit: false },
    },
  ])('nothing is: $found', async ({ found, info }) => {
    const socket = await listen('d.sock', { ...docker, '/info': { ...docker['/info'], ...info } });
    expect(await connect(socket)).toMatchObject({ id: 'A', ...found });
  });

  test('it does not exist', async () => {
    await expect(connect(join(home, 'none.sock'))).rejects.toMatchObject({
      code: 'unavailable',
      message: `Docker is not running: there is no socket "${join(home, 'none.sock')}" (DOCKER_HOST).`,
    });
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
    await expect(connect(socket)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(message),
    });
  });
});

test('a later failure is explained, and a refusal keeps its status for callers', async () => {
  const socket = await listen('docker.sock', docker);
  const { docker: connected } = await connectTo({ socket, saidBy: 'DOCKER_HOST' });
  await expect(connected.getContainer('hangs').inspect()).rejects.toMatchObject({
    code: 'unavailable',
    message: `Docker at "${socket}" (DOCKER_HOST) gives an unexpected answer: the connection was closed by the other side.`,
    hint: 'Check its state: docker info.',
  });
  const refused: unknown = await connected.listContainers().catch((error: unknown) => error);
  expect(statusOf(refused)).toBe(500);
  expect(dockerRefusal(refused)).toMatchObject({
    code: 'unavailable',
    message: 'Docker refused the request: driver failed: out of addresses.',
  });
  expect(dockerRefusal(new Error('(HTTP code 500) of somebody else'))).toBeNull();
});
