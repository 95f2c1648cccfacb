import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { down } from '../down.ts';
import { readPlan } from '../plan.ts';
import { startInBackground, startInForeground } from '../start.ts';
import { status } from '../status.ts';
import { up } from '../up.ts';
import { openTrial, platformsOf, until } from './trial.ts';

vi.setConfig({ testTimeout: 60_000 });

test('parts that stopped are not said to run on where it could not be written down', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  await up({ env: process.env, installation });
  const [pid = 0] = platformsOf(installation);
  // No file can take the place of a folder.
  const record = join(installation.stateDir, 'process.json');
  rmSync(record);
  mkdirSync(join(record, 'in-the-way'), { recursive: true });
  process.kill(pid, 'SIGTERM');
  await until(() => platformsOf(installation).length === 0);
  rmSync(record, { recursive: true });
  const said = readFileSync(join(installation.logsDir, 'platform.log'), 'utf8');
  expect(said).not.toContain('did not stop');
  expect(said.match(/the record could not be written/g)).toHaveLength(4);
});

/** A disk of its own, which only root may mount; elsewhere this is skipped. Tried while tests are collected: later it is too late to skip. */
const disk = mkdtempSync(join(tmpdir(), 'svc-small-disk-'));
const ballast = join(disk, 'ballast');
const canMount = mount();
unmount();

function mount(): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk]).status === 0;
}

function unmount(): void {
  spawnSync('umount', ['-l', disk]);
}

afterAll(() => rmSync(disk, { recursive: true }));

describe.skipIf(!canMount)('on a full disk', () => {
  let trial: Awaited<ReturnType<typeof openTrial>>;
  const signal = new AbortController().signal;
  const isFull = (dir: RegExp) => ({
    code: 'unavailable',
    message: expect.stringMatching(dir),
    hint: expect.stringMatching(/space|room/),
  });

  beforeAll(async () => {
    mount();
    trial = await openTrial(undefined, disk);
    await up({ env: process.env, installation: trial.installation });
    await down(trial);
  });
  afterEach(() => rmSync(ballast, { force: true }));
  afterAll(async () => {
    await trial[Symbol.asyncDispose]();
    unmount();
  });

  test('nothing is started, and the folder is named', async () => {
    fill({ leaveBytes: 64 * 1024 });
    // The note of who holds the lock takes a block of it.
    await expect(up({ env: process.env, installation: trial.installation })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^The disk is full: ".+\/state" has 6\d KB left, and a start needs 256 KB\.$/),
      hint: expect.stringContaining('Free some space'),
    });
    expect(platformsOf(trial.installation)).toEqual([]);
  });

  test('what runs is not stopped for a change that it could not be started with', async () => {
    const { installation } = trial;
    await up({ env: process.env, installation });
    const pids = platformsOf(installation);
    const before = readFileSync(installation.definitionFile, 'utf8');
    writeFileSync(
      installation.definitionFile,
      before.replace('sessionIdleTimeoutMs: 300000', 'sessionIdleTimeoutMs: 60000'),
    );
    fill({ leaveBytes: 0 });
    await expect(up({ env: process.env, installation })).rejects.toMatchObject(isFull(/disk is full/));
    expect(platformsOf(installation)).toEqual(pids);
    expect((await status({ installation })).state).toBe('running');
    rmSync(ballast);
    await down({ installation });
    writeFileSync(installation.definitionFile, before);
  });

  // It got full after the look: at another moment of the start each time.
  test.each([0, 1, 2, 3, 4])('a start that finds %i pages left tells why it ended', async (pages) => {
    const options = { plan: readPlan(trial.installation), env: process.env, signal, onState: () => undefined };
    fill({ leaveBytes: pages * 4096 });
    await expect(startInBackground(options)).rejects.toMatchObject(isFull(new RegExp(`disk is full.*"${disk}/`)));
    await expect(startInForeground({ ...options, onHealthy: async () => undefined })).rejects.toMatchObject(
      isFull(new RegExp(`disk is full.*"${disk}/`)),
    );
  });

  /** To the last byte but these. */
  function fill({ leaveBytes }: { readonly leaveBytes: number }): void {
    const chunk = Buffer.alloc(64 * 1024, 1);
    expect(() => {
      for (;;) appendFileSync(ballast, chunk);
    }).toThrow(/ENOSPC/);
    truncateSync(ballast, statSync(ballast).size - leaveBytes);
  }
});
