import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findNatsServer } from '../../services/kit/bus/nats/test/server.ts';
import { findProgram } from '../../stack/machine/find-program.ts';
import { makeDatedCertificate } from '../../stack/runtime-elsewhere/test/certificate.ts';
import { freePorts } from '../../stack/test/free-ports.ts';
import { canMount } from '../../stack/test/small-disk.ts';
import { Elsewhere } from './elsewhere.ts';
import { type Run, runSvc, svcFile } from './run-svc.ts';

vi.setConfig({ testTimeout: 90_000 });

const hasNats = findNatsServer() !== null;
type Topology = 'embedded' | 'distributed';

/** An installation that has its ports, and does not run. */
async function install(topology: Topology, ...flags: readonly string[]) {
  const home = new Elsewhere();
  const dir = home.folder;
  const run = (...args: string[]) => runSvc(args, { cwd: dir });
  onTestFinished(async () => {
    await run('down');
    home[Symbol.dispose]();
  });
  const graph = topology === 'embedded' ? [] : ['--topology', 'distributed', '--graph', 'sqlite'];
  expect((await run('init', '.', '--yes', ...graph, ...flags)).code).toBe(0);
  const ports = await freePorts(5);
  const [backend = 0, mcp = 0, runtime = 0, frontend = 0, nats = 0] = ports;
  const edit = (from: string | RegExp, to: string) => {
    const text = readFileSync(join(dir, 'svc.yaml'), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(join(dir, 'svc.yaml'), text.replace(from, to));
  };
  edit('backend: auto # 3000', `backend: ${backend}`);
  edit('remote-mcp: auto', `remote-mcp: ${mcp}`);
  edit('runtime: auto', `runtime: ${runtime}`);
  edit('frontend: auto # 8888', `frontend: ${frontend}`);
  edit('  port: auto', `  port: ${nats}`);
  const up = (env: Readonly<Record<string, string>> = {}) => runSvc(['up'], { cwd: dir, env, timeoutMs: 90_000 });
  return { dir, run, edit, up, mcp, nats };
}

type Installed = Awaited<ReturnType<typeof install>>;

/** As a person sees it: the part and the reason, then what to do next. */
function expectFailure(run: Run, { code, told, hint }: { code: number; told: RegExp; hint: RegExp }): void {
  expect(run.stderr).toMatch(told);
  expect(run.stderr.trimEnd().split('\n').at(-1)).toMatch(hint);
  expect([run.code, run.stdout]).toEqual([code, '']);
  expect(run.stderr).not.toMatch(/ at .*\.[jt]s:\d+|Unexpected error|internal error/);
}

async function ranOnce({ up, run }: Installed): Promise<void> {
  expect((await up()).code).toBe(0);
  await run('down');
}

describe('in one process', () => failures('embedded'));
describe.skipIf(!hasNats)('on a real server', () => failures('distributed'));

function failures(topology: Topology): void {
  test('a port that svc.yaml sets is taken', async () => {
    const { up, mcp } = await install(topology);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(mcp, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    expectFailure(await up(), {
      code: 5,
      told: new RegExp(`^Error: Port ${mcp} of remote-mcp is in use by ".+" \\(pid ${process.pid}\\)\\.$`, 'm'),
      hint: /^Stop that program, or change ports\.remote-mcp in svc\.yaml/,
    });
  });

  test('a secret has a wrong content', async () => {
    const { dir, up } = await install(topology);
    writeFileSync(join(dir, 'secrets/encryption.key'), 'garbage\n');
    expectFailure(await up(), {
      code: 2,
      told: /^Error: secrets\/encryption\.key must hold a 64-character hex string/m,
      hint: /^Restore the right file from a backup\.$/,
    });
  });

  test('the data belongs to another key', async () => {
    const installed = await install(topology);
    await ranOnce(installed);
    writeFileSync(join(installed.dir, 'secrets/encryption.key'), `${randomBytes(32).toString('hex')}\n`);
    expectFailure(await installed.up(), {
      code: 3,
      told: /^Error: secrets\/encryption\.key \(fingerprint \w+\) is not the key that data\/ is encrypted with/m,
      hint: /^Restore the right key, or the data of this key\.$/,
    });
  });

  test('svc.yaml is invalid, also a variable in it', async () => {
    const { edit, up } = await install(topology);
    edit(/^ {2}runtime: \{\}/m, '  runtime: { HEARTBEAT_INTERVAL: often }');
    expectFailure(await up(), {
      code: 2,
      told: /svc\.yaml:\d+:\d+ environment\.runtime\.HEARTBEAT_INTERVAL: It must be a whole number from 50 to 60000\.$/m,
      hint: /svc config docs$/,
    });
    edit(/^topology:/m, 'toplogy:');
    expectFailure(await up(), {
      code: 2,
      told: /svc\.yaml:\d+:1 "toplogy" is not a field\. Did you mean "topology"\?$/m,
      hint: /svc config docs$/,
    });
  });

  test('a part ends at its start, because its database is damaged', async () => {
    const installed = await install(topology);
    await ranOnce(installed);
    const database = join(installed.dir, 'data/graph.sqlite');
    for (const more of ['-wal', '-shm']) rmSync(`${database}${more}`, { force: true });
    writeFileSync(database, randomBytes(100_000));
    expectFailure(await installed.up(), {
      code: 4,
      told: /^Error: backend failed to (start|get ready): .*The database ".*graph\.sqlite" is damaged/m,
      hint: topology === 'embedded' ? /^Restore it from a backup: svc restore FILE$/ : /svc logs backend$/,
    });
  });

  test.skipIf(!canMount)('the folder of the data is read-only', async () => {
    const installed = await install(topology);
    await ranOnce(installed);
    const data = join(installed.dir, 'data');
    for (const how of [
      ['--bind', data, data],
      ['-o', 'remount,ro,bind', data],
    ]) {
      expect(spawnSync('mount', how).status).toBe(0);
    }
    const run = await installed.up().finally(() => spawnSync('umount', [data]));
    expectFailure(run, {
      code: 3,
      told: /^Error: The platform failed to start: ".*\/data\/.*" cannot be written: its file system is read-only\.$/m,
      hint: /^Make it writable\. Otherwise: /,
    });
  });

  test.skipIf(!existsSync('/proc/self/limits'))('a process may open too few files', async () => {
    const { dir } = await install(topology);
    const limited = (max: number) => {
      const command = `ulimit -n ${max}; exec '${process.execPath}' '${svcFile}' up`;
      return spawnSync('sh', ['-c', command], {
        cwd: dir,
        env: { PATH: process.env.PATH, HOME: dir },
        encoding: 'utf8',
      });
    };
    const run = limited(64);
    expect(run.stderr).toMatch(
      /^! This user may open only 64 files in one process, .* Raise it, such as by: ulimit -n 1024$/m,
    );
    expect(run.status).toBe(0);
  });
}

describe.skipIf(!hasNats)('on a real server', () => {
  /** A PATH on which nats-server states its version, and then runs this script. */
  function withNats(dir: string, script: string): Readonly<Record<string, string>> {
    const real = findProgram('nats-server', process.env.PATH);
    const program = join(dir, 'nats-server');
    writeFileSync(program, `#!/bin/sh\n[ "$1" = --version ] && exec '${real}' --version\n${script}\n`);
    chmodSync(program, 0o755);
    return { PATH: `${dir}:${process.env.PATH}` };
  }

  test('a program that ends at once is named, with its last words', async () => {
    const { dir, up } = await install('distributed');
    expectFailure(await up(withNats(dir, 'echo "panic: no good" >&2; exit 3')), {
      code: 4,
      told: /^Error: nats failed to get ready: it ended with exit code 3: panic: no good$/m,
      hint: /^Read its log: svc logs nats$/,
    });
  });

  test.each<[string, readonly [number, number], RegExp]>([
    [
      'expired',
      [2020, 2021],
      /bus\.public\.tls\.cert expired at 2021-01-01T00:00:00Z, and the clock of this machine says 20/,
    ],
    [
      'begins later',
      [2090, 2095],
      /bus\.public\.tls\.cert is not valid before 2090-01-01T00:00:00Z, and the clock of this/,
    ],
  ])('a certificate that %s is compared with the clock', async (_what, years, told) => {
    const { dir, edit, up, nats } = await install('distributed');
    makeDatedCertificate(join(dir, 'secrets'), 'bus', { names: 'DNS:localhost', years });
    const tls = '{ cert: secrets/bus.pem, key: secrets/bus.key, ca: secrets/bus.pem }';
    edit('public: null', `public: { servers: [tls://localhost:${nats}], bind: 127.0.0.1, tls: ${tls} }`);
    expectFailure(await up(), { code: 2, told, hint: /svc config check$/ });
  });
});

test('a Docker that does not run is told with the command that starts it', async () => {
  const { up } = await install('distributed', '--engine', 'docker');
  expectFailure(await up({ DOCKER_HOST: 'unix:///nowhere/docker.sock' }), {
    code: 4,
    told: /^Error: Docker is not running: there is no socket "\/nowhere\/docker\.sock" \(DOCKER_HOST\)\.$/m,
    hint: /^Start it: sudo systemctl start docker/,
  });
});
