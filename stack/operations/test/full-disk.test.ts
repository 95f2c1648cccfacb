import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { readPlan } from '../../engines/plan-of.ts';
import { startInBackground, startInForeground } from '../../engines/process/start.ts';
import { editDefinition } from '../../test/edit-definition.ts';
import { canMount, SmallDisk } from '../../test/small-disk.ts';
import { until } from '../../test/until.ts';
import { openTrial, platformsOf, type Trial } from './trial.ts';

vi.setConfig({ testTimeout: 60_000 });

test('stopped parts are not reported as running where the record could not be written', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  await trial.up();
  const [pid = 0] = platformsOf(installation);
  // A folder at the path of the record makes every write of the record fail.
  const record = join(installation.stateDir, 'process.json');
  rmSync(record);
  mkdirSync(join(record, 'in-the-way'), { recursive: true });
  process.kill(pid, 'SIGTERM');
  await until(() => platformsOf(installation).length === 0);
  rmSync(record, { recursive: true });
  const log = readFileSync(join(installation.logsDir, 'platform.log'), 'utf8');
  expect(log).not.toContain('did not stop');
  expect(log.match(/the record could not be written/g)).toHaveLength(4);
});

describe.skipIf(!canMount)('on a full disk', () => {
  let disk: SmallDisk;
  let trial: Trial;
  const signal = new AbortController().signal;

  beforeAll(async () => {
    disk = SmallDisk.mount(mkdtempSync(join(tmpdir(), 'svc-full-disk-')), 48);
    trial = await openTrial(undefined, disk.folder);
  });
  afterEach(() => disk.makeRoom());
  afterAll(async () => {
    await trial[Symbol.asyncDispose]();
    disk[Symbol.dispose]();
    rmSync(disk.folder, { recursive: true });
  });

  test('a start for which there is no room is refused, with the folder, and a running platform is not stopped for it', async () => {
    const { installation } = trial;
    await trial.up();
    const pids = platformsOf(installation);
    const before = readFileSync(installation.definitionFile, 'utf8');
    editDefinition(installation, 'sessionIdleTimeoutMs: 300000', 'sessionIdleTimeoutMs: 60000');
    disk.fill(64 * 1024);
    // The command's lock and the running platform use some of the 64 KB.
    await expect(trial.up()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^The disk is full: ".+\/state" has [56]\d KB left, and a start needs up to 256 KB\.$/,
      ),
      hint: expect.stringContaining('Free some space'),
    });
    expect(platformsOf(installation)).toEqual(pids);
    expect((await trial.status()).state).toBe('running');
    disk.makeRoom();
    await trial.down();
    writeFileSync(installation.definitionFile, before);
  });

  // The disk becomes full after the check of free space, each time at a different moment of the start.
  test.each([0, 1, 2, 3, 4])('a start with %i pages left reports why it ended', async (pages) => {
    const options = { plan: readPlan(trial.installation), env: process.env, signal, onState: () => undefined };
    disk.fill(pages * 4096);
    const refusal = {
      code: 'unavailable',
      message: expect.stringMatching(new RegExp(`disk is full.*"${disk.folder}/`)),
      hint: expect.stringMatching(/space|room/),
    };
    await expect(startInBackground(options)).rejects.toMatchObject(refusal);
    await expect(startInForeground(options)).rejects.toMatchObject(refusal);
  });
});
