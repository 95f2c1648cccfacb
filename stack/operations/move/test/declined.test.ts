import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { findNatsServer } from '../../../../services/kit/bus/nats/test/server.ts';
import { hasEnded, sendSignal } from '../../../state/end-process.ts';
import { type Installation, installationIn } from '../../../state/installation.ts';
import { readRecord } from '../../../state/platform-record.ts';
import { everythingIn } from '../../../test/everything-in.ts';
import { createInstallation } from '../../create-installation.ts';
import { down } from '../../down.ts';
import { undoReplacement } from '../../replace/end-replacement.ts';
import { distributed, embedded } from '../../test/sides.ts';
import { up } from '../../up.ts';
import { confirmMove, filledCopies, moveTo } from './trial.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const env = process.env;
const declined = new Error('declined');
const confirm = () => Promise.reject(declined);

describe.skipIf(findNatsServer() === null)('on a real server, what is declined changes nothing', () => {
  const copies = filledCopies();
  let installation: Installation;
  beforeEach(() => {
    installation = copies.copy();
  });

  const moveThere = () => moveTo(installation, distributed, { confirm });
  async function moveAway(): Promise<void> {
    await moveTo(installation, distributed);
    await confirmMove(installation);
  }
  async function neverRun(): Promise<void> {
    rmSync(installation.dir, { recursive: true });
    await createInstallation({ dir: installation.dir });
  }
  function openToOthers(): void {
    for (const dir of [installation.stateDir, installation.secretsDir, installation.dataDir]) chmodSync(dir, 0o755);
    chmodSync(join(installation.secretsDir, 'encryption.key'), 0o644);
  }
  function lose(): void {
    rmSync(join(installation.secretsDir, 'system-runtime.key'));
    rmSync(installation.logsDir, { recursive: true });
    rmSync(join(installation.stateDir, 'compile-cache'), { recursive: true });
  }
  async function rename(): Promise<void> {
    await up({ installation, env });
    await down({ installation });
    const dir = join(dirname(installation.dir), 'renamed');
    renameSync(installation.dir, dir);
    installation = installationIn(dir);
  }
  async function kill(): Promise<void> {
    await up({ installation, env });
    const platform = readRecord(installation) ?? expect.fail('it runs');
    sendSignal(platform, 'SIGKILL');
    expect(await hasEnded(platform, 5000)).toBe(true);
  }
  const undo = () => undoReplacement({ installation, env, command: 'move', onProgress: () => undefined }, confirm);

  test.each<[string, () => unknown, () => Promise<unknown>]>([
    ['a move to the distributed topology', () => undefined, moveThere],
    ['a move back to the embedded topology', moveAway, () => moveTo(installation, embedded, { confirm })],
    ['a move of an installation that never ran', neverRun, moveThere],
    ['a move where folders and files are open to others', openToOthers, moveThere],
    ['a move where a secret and folders are missing', lose, moveThere],
    ['a move of a folder that was renamed', rename, moveThere],
    ['a move after the platform was killed', kill, moveThere],
    ['the undoing of a move', () => moveTo(installation, distributed), undo],
  ])('%s', async (_what, prepare, decline) => {
    await prepare();
    const before = everythingIn(installation.dir);
    await expect(decline()).rejects.toBe(declined);
    expect(everythingIn(installation.dir)).toEqual(before);
  });

  test('and a move makes what it needs only after the consent', async () => {
    const consent = async () => {
      expect(Object.keys(everythingIn(installation.dir)).join()).not.toContain('.seed');
      writeFileSync(join(installation.dir, 'asked'), '');
    };
    await moveTo(installation, distributed, { confirm: consent });
    const made = ['asked', ...['callout', 'system', 'issuer'].map((name) => `secrets/bus-${name}.seed`)];
    expect(Object.keys(everythingIn(installation.dir))).toEqual(expect.arrayContaining(made));
  });
});
