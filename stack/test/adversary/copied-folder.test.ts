import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Run, runSvc, svcFile } from '../../../cli/test/run-svc.ts';
import { readId } from '../../state/find-original.ts';
import { installationIn } from '../../state/installation.ts';
import { readPlace } from '../../state/place-record.ts';
import { readRecord } from '../../state/platform-record.ts';
import { isAlive } from '../../state/process-identity.ts';
import { freePorts } from '../free-ports.ts';
import { until } from '../until.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const isRoot = process.geteuid?.() === 0;
/** Neither root nor a user of the tests. */
const mallory = 65_534;

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-copied-')));
const original = join(folder, 'original');
const copy = join(folder, 'copy');
/** Of the original, in svc.yaml. */
let ports: readonly number[] = [];

beforeAll(async () => {
  ports = await freePorts(4);
  const [backend = 0, remoteMcp = 0, runtime = 0, frontend = 0] = ports;
  expect(await svc('init', original, '--yes')).toMatchObject({ code: 0 });
  const yaml = { backend, 'remote-mcp': remoteMcp, runtime, frontend };
  let text = readFileSync(join(original, 'svc.yaml'), 'utf8');
  for (const [name, port] of Object.entries(yaml)) text = text.replace(`  ${name}: auto #`, `  ${name}: ${port} #`);
  writeFileSync(join(original, 'svc.yaml'), text);
  await start(original);
});

afterEach(async () => {
  for (const dir of [copy, `${copy}-moved`]) {
    if (!existsSync(dir)) continue;
    await svc('down', '--dir', dir);
    rmSync(dir, { recursive: true, force: true });
  }
});

afterAll(async () => {
  await svc('down', '--dir', original);
  rmSync(folder, { recursive: true, force: true });
});

function svc(...args: readonly string[]): Promise<Run> {
  return runSvc(args, { cwd: folder });
}

async function start(dir: string, ...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await svc('up', '--dir', dir, ...flags);
  expect(`${stderr}${stdout}${code}`).toMatch(/0$/);
  return stderr;
}

/** As `cp -a`. */
function copyFolder(from = original, to = copy): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true, filter: (path) => !path.endsWith('.sock') });
}

function pidOf(dir: string): number | undefined {
  return readRecord(installationIn(dir))?.pid;
}

async function urlsOf(dir: string): Promise<Readonly<Record<string, string>>> {
  return JSON.parse((await svc('status', '--json', '--dir', dir)).stdout).urls;
}

/** That the original is the process that it was, and answers at its own port. */
async function expectUntouched(pid: number | undefined): Promise<void> {
  const record = readRecord(installationIn(original));
  expect(record?.pid ?? 'none').toBe(pid);
  expect(record !== null && isAlive(record)).toBe(true);
  expect((await fetch(`http://127.0.0.1:${ports[1]}/health`)).status).toBe(200);
}

describe('a folder that was copied while its platform ran', () => {
  /** Every command that could act on the original through what the copy has of it. */
  const attacks: readonly { readonly attack: string; readonly typed: readonly string[] }[] = [
    { attack: 'svc down', typed: ['down'] },
    { attack: 'svc up', typed: ['up'] },
    { attack: 'svc up of another graph', typed: ['move', '--to', 'distributed', '--yes'] },
    { attack: 'svc move --undo', typed: ['move', '--undo', '--yes'] },
    { attack: 'svc keys create', typed: ['keys', 'create', '--name', 'stolen'] },
  ];
  test.each(attacks)('$attack is refused and leaves the original alone', async ({ typed }) => {
    copyFolder();
    const before = pidOf(original);
    const { code, stdout } = await svc(...typed, '--json', '--dir', copy);
    const { error } = JSON.parse(stdout);
    expect(error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`a copy of the installation in "${original}"`),
    });
    expect(error.hint).toContain(`svc up --as-copy --dir ${copy}`);
    expect(code).toBe(5);
    await expectUntouched(before);
  });

  test('svc status reports the copy, and nothing of the original', async () => {
    copyFolder();
    const { code, stdout } = await svc('status', '--json', '--dir', copy);
    const { state, services, copyOf } = JSON.parse(stdout);
    expect({ code, state, copyOf }).toEqual({ code: 4, state: 'stopped', copyOf: original });
    expect(services.map(({ pid }: { pid: number | null }) => pid)).toEqual([null, null, null, null]);
  });

  test('is known by the running process where state/ names no place, as an earlier version left it', async () => {
    copyFolder();
    rmSync(join(copy, 'state/place.json'));
    const before = pidOf(original);
    for (const verb of ['down', 'up']) expect(await svc(verb, '--dir', copy)).toMatchObject({ code: 5 });
    await expectUntouched(before);
  });

  test('runs beside the original with --as-copy, on ports, keys and an id of its own', async () => {
    copyFolder();
    const before = pidOf(original);
    const told = await start(copy, '--as-copy');
    for (const port of ports) expect(told).toContain(`${port} → `);
    await expectUntouched(before);
    expect(pidOf(copy)).not.toBe(before);
    const [here, there] = [installationIn(copy), installationIn(original)];
    expect(readId(here.dir)).not.toBe(readId(there.dir));
    expect(readPlace(here)).toMatchObject({ id: readId(here.dir), dir: copy });
    const same = (name: string) =>
      readFileSync(join(here.secretsDir, name), 'utf8') === readFileSync(join(there.secretsDir, name), 'utf8');
    const own = ['jwt-private.pem', 'jwt-public.pem', 'system-remote-mcp.key', 'system-runtime.key'];
    expect([...own, 'encryption.key'].map(same)).toEqual([false, false, false, false, true]);
    const { mcp = '' } = await urlsOf(copy);
    expect((await fetch(mcp.replace(/mcp$/, 'health'))).status).toBe(200);
    // Again it is no copy any more, and the other way round neither touches the other.
    expect(await svc('up', '--as-copy', '--dir', copy)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('not a copy'),
    });
    expect(await svc('down', '--dir', copy)).toMatchObject({ code: 0 });
    await expectUntouched(before);
  });

  test('becomes whole where svc up --as-copy was killed in the middle', async () => {
    copyFolder();
    const before = pidOf(original);
    const command = spawnSvc('up', '--as-copy', '--dir', copy);
    await until(
      () => !existsSync(join(copy, 'secrets/jwt-public.pem')) || readPlace(installationIn(copy))?.dir === copy,
    );
    await kill(command);
    await start(copy, '--as-copy');
    expect(readPlace(installationIn(copy))).toMatchObject({ id: readId(copy), dir: copy });
    await expectUntouched(before);
  });

  test('of two concurrent commands one makes it an installation', async () => {
    copyFolder();
    const both = await Promise.all([svc('up', '--as-copy', '--dir', copy), svc('up', '--as-copy', '--dir', copy)]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 5]);
    expect(readPlace(installationIn(copy))).toMatchObject({ id: readId(copy), dir: copy });
  });

  test('with a link to data of the original is refused --as-copy', async () => {
    copyFolder();
    rmSync(join(copy, 'data'), { recursive: true });
    symlinkSync(join(original, 'data'), join(copy, 'data'));
    const before = pidOf(original);
    expect(await svc('up', '--as-copy', '--dir', copy)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('is a link'),
    });
    await expectUntouched(before);
  });

  test('replaces the original once that one is gone', async () => {
    copyFolder();
    await start(copy, '--as-copy');
    await svc('down', '--dir', copy);
    const second = `${copy}-moved`;
    copyFolder(copy, second);
    expect(await svc('up', '--dir', second)).toMatchObject({ code: 5 });
    rmSync(copy, { recursive: true });
    expect(await start(second)).toContain(`moved here from "${copy}"`);
  });
});

describe('a folder that was moved', () => {
  test('carries on, be it while its platform runs, which svc down still stops', async () => {
    copyFolder();
    await start(copy, '--as-copy');
    const id = readId(copy);
    const moved = `${copy}-moved`;
    renameSync(copy, moved);
    const pid = pidOf(moved);
    expect(JSON.parse((await svc('status', '--json', '--dir', moved)).stdout)).toMatchObject({
      state: 'running',
      copyOf: null,
    });
    expect(await svc('down', '--dir', moved)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is stopped'),
    });
    expect(await start(moved)).toContain(`moved here from "${copy}"`);
    expect(readPlace(installationIn(moved))).toMatchObject({ id, dir: moved });
    expect(pidOf(moved)).not.toBe(pid);
  });

  test('runs a platform of an earlier version, which svc down still stops', async () => {
    copyFolder();
    await start(copy, '--as-copy');
    rmSync(join(copy, 'state/place.json'));
    expect(await svc('down', '--dir', copy)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is stopped'),
    });
  });
});

describe('data that was there', () => {
  test('and is gone is named, until its name was typed', async () => {
    copyFolder();
    await start(copy, '--as-copy');
    const data = join(copy, 'data');
    rmSync(data, { recursive: true });
    expect(await svc('up', '--dir', copy)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('still has the data open'),
    });
    expect(await svc('down', '--dir', copy)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is stopped'),
    });
    const { code, stdout } = await svc('up', '--json', '--dir', copy);
    const { error } = JSON.parse(stdout);
    expect(error.message).toMatch(/"data\/graph\.sqlite" \(there since 20.*"data\/blobs" \(there since 20/);
    expect({ code, hint: error.hint }).toEqual({ code: 1, hint: expect.stringContaining('svc up --start-empty') });
    const refused = await svc('up', '--start-empty', '--dir', copy);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--confirm original-copy') });
    expect(await svc('up', '--start-empty', '--confirm', 'original', '--dir', copy)).toMatchObject({ code: 2 });
    expect(existsSync(join(data, 'graph.sqlite'))).toBe(false);
    await start(copy, '--start-empty', '--confirm', 'original-copy');
    await svc('down', '--dir', copy);
    await start(copy);
  });

  test('of another installation is refused by its name', async () => {
    copyFolder();
    await start(copy, '--as-copy');
    await svc('down', '--dir', copy);
    rmSync(join(copy, 'data'), { recursive: true });
    cpSync(join(original, 'data'), join(copy, 'data'), { recursive: true });
    const before = pidOf(original);
    const { code, stderr } = await svc('up', '--dir', copy);
    expect(stderr).toContain(`holds the data of the installation original (id ${readId(original)})`);
    expect(code).toBe(5);
    // Its note of who holds the lock names the original's process.
    expect(await svc('down', '--dir', copy)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('not running'),
    });
    await expectUntouched(before);
  });
});

describe.runIf(isRoot)('a folder of another user, for root', () => {
  test('is refused before anything is read, with the command that its owner types', async () => {
    copyFolder();
    chownSync(copy, mallory, mallory);
    const before = pidOf(original);
    for (const typed of ['down', 'up', 'status', 'server list']) {
      const { code, stderr } = await svc(...typed.split(' '), '--dir', copy);
      expect(stderr).toMatch(/^Error: The folder ".*copy" belongs to .+ \(uid 65534\), and you are root\./);
      expect(stderr).toMatch(new RegExp(`sudo -u \\S+ svc ${typed} --dir ${copy}`));
      expect(code).toBe(3);
    }
    await expectUntouched(before);
    chownSync(copy, 0, 0);
  });

  test('its owner starts and stops it', async () => {
    copyFolder();
    chmodSync(folder, 0o755);
    const words = ['-R', `${mallory}:${mallory}`, copy];
    await ended(spawn('chown', words));
    const run = (...args: string[]) =>
      ended(
        spawn(process.execPath, [svcFile, ...args, '--dir', copy], {
          cwd: copy,
          env: { PATH: process.env.PATH ?? '', HOME: copy },
          uid: mallory,
          gid: mallory,
          stdio: 'ignore',
        }),
      );
    expect(await run('up', '--as-copy')).toBe(0);
    expect(await run('down')).toBe(0);
  });
});

function spawnSvc(...args: readonly string[]): ChildProcess {
  const env = { PATH: process.env.PATH ?? '', HOME: folder };
  return spawn(process.execPath, [svcFile, ...args], { cwd: folder, env, stdio: 'ignore' });
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', resolve));
}

async function kill(child: ChildProcess): Promise<void> {
  const end = child.exitCode === null && child.signalCode === null ? ended(child) : null;
  child.kill('SIGKILL');
  await end;
}
