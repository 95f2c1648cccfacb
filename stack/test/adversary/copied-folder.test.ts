import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Run, runSvc, svcFile } from '../../../cli/test/run-svc.ts';
import { readDefinition } from '../../settings/check.ts';
import { readId } from '../../state/find-original.ts';
import { installationIn } from '../../state/installation.ts';
import { readPlace } from '../../state/place-record.ts';
import { readRecord } from '../../state/platform-record.ts';
import { isAlive } from '../../state/process-identity.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';

vi.setConfig({ testTimeout: testTimeoutMs, hookTimeout: startTimeoutMs });

/** A user other than root and the user of the tests. */
const mallory = 65_534;

/** The platform of the original installation, which runs during all tests. */
let platform: Platform;
let original: string;
let pid: number | undefined;
let copy: string;
let moved: string;

beforeAll(async () => {
  platform = await Platform.start();
  original = realpathSync(platform.installation.dir);
  pid = pidOf(original);
  [copy, moved] = [`${original}-1`, `${original}-2`];
});

/** Copies the installation as `cp -a` does, except for sockets. */
beforeEach(() => {
  const filter = (path: string) => !path.endsWith('.sock');
  cpSync(original, copy, { recursive: true, preserveTimestamps: true, filter });
});

/** The original still runs as the same process, and answers at its own port. */
afterEach(async () => {
  const record = readRecord(installationIn(original));
  expect(record?.pid ?? 'none').toBe(pid);
  expect(record !== null && isAlive(record)).toBe(true);
  expect((await fetch(platform.mcpUrl.replace(/mcp$/, 'health'))).status).toBe(200);
});

afterEach(async () => {
  for (const dir of [copy, moved].filter((one) => existsSync(one))) {
    await svc(dir, 'down');
    rmSync(dir, { recursive: true, force: true });
  }
});

afterAll(() => platform[Symbol.asyncDispose]());

function svc(dir: string, ...typed: readonly string[]): Promise<Run> {
  return runSvc([...typed, '--dir', dir], { cwd: platform.folder });
}

async function start(dir: string, ...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await svc(dir, 'up', ...flags);
  expect(`${stderr}${stdout}${code}`).toMatch(/0$/);
  return stderr;
}

/** Runs `svc down`, which must report on standard output that the platform is stopped. */
async function stop(dir: string): Promise<void> {
  expect(await svc(dir, 'down')).toMatchObject({ code: 0, stdout: expect.stringContaining('is stopped') });
}

/** Runs `svc` on the copy, and expects this exit code and these words on standard error. */
async function ends(code: number, words: string, ...typed: readonly string[]): Promise<void> {
  expect(await svc(copy, ...typed)).toMatchObject({ code, stderr: expect.stringContaining(words) });
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

describe('a folder that was copied while its platform ran', () => {
  /** Every command that could act on the original because of the files in its copy. */
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
    const stderr = await start(copy, '--as-copy');
    for (const port of Object.values(platform.ports)) expect(stderr).toContain(`${port} → `);
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
  });

  test('of two concurrent commands one makes it an installation', async () => {
    const both = await Promise.all([svc(copy, 'up', '--as-copy'), svc(copy, 'up', '--as-copy')]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 5]);
    expectPlaced(copy);
  });
});

describe('a copy that became an installation', () => {
  beforeEach(() => start(copy, '--as-copy'));

  test('carries on where it is moved while its platform runs, which svc down stops, also of an earlier version', async () => {
    const id = readId(copy);
    renameSync(copy, moved);
    const before = pidOf(moved);
    expect(await statusOf(moved)).toMatchObject({ state: 'running', copyOf: null });
    await stop(moved);
    expect(await start(moved)).toContain(`moved here from "${copy}"`);
    expectPlaced(moved, id);
    expect(pidOf(moved)).not.toBe(before);
    rmSync(join(moved, 'state/place.json'));
    await stop(moved);
  });

  test('has lost data named, until its name was typed', async () => {
    rmSync(join(copy, 'data'), { recursive: true });
    await ends(1, 'still has the data open', 'up');
    await stop(copy);
    const { code, stdout } = await svc(copy, 'up', '--json');
    const { error } = JSON.parse(stdout);
    expect(error.message).toMatch(/"data\/graph\.sqlite" \(there since 20.*"data\/blobs" \(there since 20/);
    expect({ code, hint: error.hint }).toEqual({ code: 1, hint: expect.stringContaining('svc up --start-empty') });
    const { name } = readDefinition(platform.installation.definitionFile);
    await ends(2, `--confirm ${name}-copy`, 'up', '--start-empty');
    await ends(2, '', 'up', '--start-empty', '--confirm', name);
    expect(existsSync(join(copy, 'data/graph.sqlite'))).toBe(false);
    await start(copy, '--start-empty', '--confirm', `${name}-copy`);
    await svc(copy, 'down');
    await start(copy);
  });
});

describe.runIf(process.geteuid?.() === 0)('a folder of another user, for root', () => {
  test('is refused before anything is read, with the command that its owner types', async () => {
    chownSync(copy, mallory, mallory);
    for (const typed of ['down', 'up', 'status', 'server list']) {
      const { code, stderr } = await svc(copy, ...typed.split(' '));
      expect(stderr).toMatch(/^Error: The folder ".*" belongs to .+ \(uid 65534\), and you are root\./);
      expect(stderr).toMatch(new RegExp(`sudo -u \\S+ svc ${typed} --dir ${copy}`));
      expect(code).toBe(3);
    }
    chownSync(copy, 0, 0);
  });

  test('its owner starts and stops it', async () => {
    chmodSync(platform.folder, 0o755);
    spawnSync('chown', ['-R', `${mallory}:${mallory}`, copy]);
    const env = { PATH: process.env.PATH ?? '', HOME: copy };
    for (const typed of [['up', '--as-copy'], ['down']]) {
      const options = { cwd: copy, env, stdio: 'ignore', uid: mallory, gid: mallory } as const;
      const child = spawn(process.execPath, [svcFile, ...typed, '--dir', copy], options);
      expect(await once(child, 'exit')).toEqual([0, null]);
    }
  });
});
