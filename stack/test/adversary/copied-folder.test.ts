import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
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
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Run, runSvc, svcFile } from '../../../cli/test/run-svc.ts';
import { readId } from '../../state/find-original.ts';
import { installationIn } from '../../state/installation.ts';
import { readPlace } from '../../state/place-record.ts';
import { readRecord } from '../../state/platform-record.ts';
import { isAlive } from '../../state/process-identity.ts';
import { editDefinition } from '../edit-definition.ts';
import { freePorts } from '../free-ports.ts';
import { until } from '../until.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Neither root nor a user of the tests. */
const mallory = 65_534;

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-copied-')));
const original = join(folder, 'original');
const copy = join(folder, 'copy');
const moved = join(folder, 'copy-moved');
/** Of the original, in svc.yaml. */
let ports: readonly number[] = [];
let pid: number | undefined;

beforeAll(async () => {
  ports = await freePorts(4);
  expect(await runSvc(['init', original, '--yes'], { cwd: folder })).toMatchObject({ code: 0 });
  for (const [at, name] of ['backend', 'remote-mcp', 'runtime', 'frontend'].entries()) {
    editDefinition(installationIn(original), `  ${name}: auto #`, `  ${name}: ${ports[at]} #`);
  }
  await start(original);
  pid = pidOf(original);
});

beforeEach(() => copyFolder(original, copy));

/** The original is the process that it was, and answers at its own port. */
afterEach(async () => {
  const record = readRecord(installationIn(original));
  expect(record?.pid ?? 'none').toBe(pid);
  expect(record !== null && isAlive(record)).toBe(true);
  expect((await fetch(`http://127.0.0.1:${ports[1]}/health`)).status).toBe(200);
});

afterEach(async () => {
  for (const dir of [copy, moved].filter((one) => existsSync(one))) {
    await svc(dir, 'down');
    rmSync(dir, { recursive: true, force: true });
  }
});

afterAll(async () => {
  await svc(original, 'down');
  rmSync(folder, { recursive: true, force: true });
});

function svc(dir: string, ...typed: readonly string[]): Promise<Run> {
  return runSvc([...typed, '--dir', dir], { cwd: folder });
}

async function start(dir: string, ...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await svc(dir, 'up', ...flags);
  expect(`${stderr}${stdout}${code}`).toMatch(/0$/);
  return stderr;
}

/** Says on standard output what became of the platform. */
async function stop(dir: string, outcome = 'is stopped'): Promise<void> {
  expect(await svc(dir, 'down')).toMatchObject({ code: 0, stdout: expect.stringContaining(outcome) });
}

/** Types it for the copy; standard error has these words. */
async function ends(code: number, words: string, ...typed: readonly string[]): Promise<void> {
  expect(await svc(copy, ...typed)).toMatchObject({ code, stderr: expect.stringContaining(words) });
}

/** As `cp -a`. */
function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true, filter: (path) => !path.endsWith('.sock') });
}

function pidOf(dir: string): number | undefined {
  return readRecord(installationIn(dir))?.pid;
}

async function statusOf(dir: string) {
  const { code, stdout } = await svc(dir, 'status', '--json');
  return { code, ...JSON.parse(stdout) };
}

function expectPlaced(dir: string, id = readId(dir)): void {
  expect(readPlace(installationIn(dir))).toMatchObject({ id, dir });
}

/** Types it for the copy, which is the home of its user. */
function spawnSvc(typed: readonly string[], user: { readonly uid?: number; readonly gid?: number } = {}) {
  const env = { PATH: process.env.PATH ?? '', HOME: copy };
  return spawn(process.execPath, [svcFile, ...typed, '--dir', copy], { cwd: copy, env, stdio: 'ignore', ...user });
}

describe('a folder that was copied while its platform ran', () => {
  /** Every command that could act on the original through what the copy has of it. */
  test.each([
    ['svc down', 'down'],
    ['svc up', 'up'],
    ['svc up of another graph', 'move --to distributed --yes'],
    ['svc move --undo', 'move --undo --yes'],
    ['svc keys create', 'keys create --name stolen'],
  ])('%s is refused and leaves the original alone', async (_, typed) => {
    const { code, stdout } = await svc(copy, ...typed.split(' '), '--json');
    const message = expect.stringContaining(`a copy of the installation in "${original}"`);
    const hint = expect.stringContaining(`svc up --as-copy --dir ${copy}`);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'conflict', message, hint });
    expect(code).toBe(5);
  });

  test('svc status reports the copy, and nothing of the original', async () => {
    const { services, ...status } = await statusOf(copy);
    expect(status).toMatchObject({ code: 4, state: 'stopped', copyOf: original });
    expect(services.map(({ pid }: { pid: number | null }) => pid)).toEqual([null, null, null, null]);
  });

  test('is known by the running process where state/ names no place, as an earlier version left it', async () => {
    rmSync(join(copy, 'state/place.json'));
    for (const verb of ['down', 'up']) expect(await svc(copy, verb)).toMatchObject({ code: 5 });
  });

  test('runs beside the original with --as-copy, on ports, keys and an id of its own', async () => {
    const told = await start(copy, '--as-copy');
    for (const port of ports) expect(told).toContain(`${port} → `);
    expect(pidOf(copy)).not.toBe(pid);
    expect(readId(copy)).not.toBe(readId(original));
    expectPlaced(copy);
    const same = (name: string) =>
      readFileSync(join(copy, name), 'utf8') === readFileSync(join(original, name), 'utf8');
    const own = ['jwt-private.pem', 'jwt-public.pem', 'system-remote-mcp.key', 'system-runtime.key'];
    expect([...own, 'encryption.key'].map((name) => same(`secrets/${name}`))).toEqual([...own.map(() => false), true]);
    const { urls } = await statusOf(copy);
    expect((await fetch(urls.mcp.replace(/mcp$/, 'health'))).status).toBe(200);
    await ends(0, 'not a copy', 'up', '--as-copy');
    expect(await svc(copy, 'down')).toMatchObject({ code: 0 });
  });

  test('becomes whole where svc up --as-copy was killed in the middle', async () => {
    const command = spawnSvc(['up', '--as-copy']);
    const ended = once(command, 'exit');
    await until(
      () => !existsSync(join(copy, 'secrets/jwt-public.pem')) || readPlace(installationIn(copy))?.dir === copy,
    );
    command.kill('SIGKILL');
    await ended;
    await start(copy, '--as-copy');
    expectPlaced(copy);
  });

  test('of two concurrent commands one makes it an installation', async () => {
    const both = await Promise.all([svc(copy, 'up', '--as-copy'), svc(copy, 'up', '--as-copy')]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 5]);
    expectPlaced(copy);
  });

  test('with a link to data of the original is refused --as-copy', async () => {
    rmSync(join(copy, 'data'), { recursive: true });
    symlinkSync(join(original, 'data'), join(copy, 'data'));
    await ends(5, 'is a link', 'up', '--as-copy');
  });
});

describe('a copy that became an installation', () => {
  beforeEach(() => start(copy, '--as-copy'));

  test('is replaced by its own copy once it is gone', async () => {
    await svc(copy, 'down');
    copyFolder(copy, moved);
    expect(await svc(moved, 'up')).toMatchObject({ code: 5 });
    rmSync(copy, { recursive: true });
    expect(await start(moved)).toContain(`moved here from "${copy}"`);
  });

  test('carries on where it is moved, be it while its platform runs, which svc down still stops', async () => {
    const id = readId(copy);
    renameSync(copy, moved);
    const before = pidOf(moved);
    expect(await statusOf(moved)).toMatchObject({ state: 'running', copyOf: null });
    await stop(moved);
    expect(await start(moved)).toContain(`moved here from "${copy}"`);
    expectPlaced(moved, id);
    expect(pidOf(moved)).not.toBe(before);
  });

  test('runs a platform of an earlier version, which svc down still stops', async () => {
    rmSync(join(copy, 'state/place.json'));
    await stop(copy);
  });

  test('has lost data named, until its name was typed', async () => {
    rmSync(join(copy, 'data'), { recursive: true });
    await ends(1, 'still has the data open', 'up');
    await stop(copy);
    const { code, stdout } = await svc(copy, 'up', '--json');
    const { error } = JSON.parse(stdout);
    expect(error.message).toMatch(/"data\/graph\.sqlite" \(there since 20.*"data\/blobs" \(there since 20/);
    expect({ code, hint: error.hint }).toEqual({ code: 1, hint: expect.stringContaining('svc up --start-empty') });
    await ends(2, '--confirm original-copy', 'up', '--start-empty');
    await ends(2, '', 'up', '--start-empty', '--confirm', 'original');
    expect(existsSync(join(copy, 'data/graph.sqlite'))).toBe(false);
    await start(copy, '--start-empty', '--confirm', 'original-copy');
    await svc(copy, 'down');
    await start(copy);
  });

  test('is refused data of another installation by its name', async () => {
    await svc(copy, 'down');
    rmSync(join(copy, 'data'), { recursive: true });
    cpSync(join(original, 'data'), join(copy, 'data'), { recursive: true });
    await ends(5, `holds the data of the installation original (id ${readId(original)})`, 'up');
    // Its note of who holds the lock names the original's process.
    await stop(copy, 'not running');
  });
});

describe.runIf(process.geteuid?.() === 0)('a folder of another user, for root', () => {
  test('is refused before anything is read, with the command that its owner types', async () => {
    chownSync(copy, mallory, mallory);
    for (const typed of ['down', 'up', 'status', 'server list']) {
      const { code, stderr } = await svc(copy, ...typed.split(' '));
      expect(stderr).toMatch(/^Error: The folder ".*copy" belongs to .+ \(uid 65534\), and you are root\./);
      expect(stderr).toMatch(new RegExp(`sudo -u \\S+ svc ${typed} --dir ${copy}`));
      expect(code).toBe(3);
    }
    chownSync(copy, 0, 0);
  });

  test('its owner starts and stops it', async () => {
    chmodSync(folder, 0o755);
    spawnSync('chown', ['-R', `${mallory}:${mallory}`, copy]);
    for (const typed of [['up', '--as-copy'], ['down']]) {
      expect(await once(spawnSvc(typed, { uid: mallory, gid: mallory }), 'exit')).toEqual([0, null]);
    }
  });
});
