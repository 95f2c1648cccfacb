import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { findNatsServer } from '../../../../services/kit/bus/nats/test/server.ts';
import { hasEnded, sendSignal } from '../../../state/end-process.ts';
import { type Installation, installationIn } from '../../../state/installation.ts';
import { readRecord } from '../../../state/platform-record.ts';
import { everythingIn } from '../../../test/everything-in.ts';
import { createInstallation } from '../../create-installation.ts';
import { down } from '../../down.ts';
import { undoReplacement } from '../../replace/end-replacement.ts';
import type { WantedSide } from '../../replace/side.ts';
import { up } from '../../up.ts';
import { move } from '../move.ts';
import { confirmMove, filledCopies, moveTo } from './trial.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const env = process.env;
const declined = new Error('declined');
const distributed: WantedSide = { topology: 'distributed' };
const embedded: WantedSide = { topology: 'embedded' };

describe.skipIf(findNatsServer() === null)('on a real server, what is declined changes nothing', () => {
  const copies = filledCopies();
  let installation: Installation;
  beforeEach(() => {
    installation = copies.copy();
  });

  test.each<{ where: string; to: WantedSide; prepare: () => unknown }>([
    { where: 'to the distributed topology', to: distributed, prepare: () => undefined },
    {
      where: 'back to the embedded topology',
      to: embedded,
      prepare: () => moveTo(installation, distributed).then(() => confirmMove(installation)),
    },
    {
      where: 'of an installation that never ran',
      to: distributed,
      prepare() {
        rmSync(installation.dir, { recursive: true });
        return createInstallation({ dir: installation.dir });
      },
    },
    {
      where: 'where folders and files are open to others',
      to: distributed,
      prepare() {
        for (const dir of [installation.stateDir, installation.secretsDir, installation.dataDir]) chmodSync(dir, 0o755);
        chmodSync(join(installation.secretsDir, 'encryption.key'), 0o644);
      },
    },
    {
      where: 'where a secret and folders are missing',
      to: distributed,
      prepare() {
        rmSync(join(installation.secretsDir, 'system-runtime.key'));
        rmSync(installation.logsDir, { recursive: true });
        rmSync(join(installation.stateDir, 'compile-cache'), { recursive: true });
      },
    },
    {
      where: 'of a folder that was renamed',
      to: distributed,
      async prepare() {
        await up({ installation, env });
        await down({ installation });
        const dir = `${installation.dir}-renamed`;
        renameSync(installation.dir, dir);
        installation = installationIn(dir);
        copies.renamed(installation);
      },
    },
    {
      where: 'after the platform was killed',
      to: distributed,
      async prepare() {
        await up({ installation, env });
        const platform = readRecord(installation) ?? expect.fail('it runs');
        sendSignal(platform, 'SIGKILL');
        expect(await hasEnded(platform, 5000)).toBe(true);
      },
    },
  ])('a move $where', async ({ to, prepare }) => {
    await prepare();
    const before = everythingIn(installation.dir);
    const asked = move({ installation, to, env, confirm: () => Promise.reject(declined) });
    await expect(asked).rejects.toBe(declined);
    expect(everythingIn(installation.dir)).toEqual(before);
  });

  test('the undoing of a move', async () => {
    await moveTo(installation, distributed);
    const before = everythingIn(installation.dir);
    const options = { installation, env, command: 'move', onProgress: () => undefined } as const;
    await expect(undoReplacement(options, () => Promise.reject(declined))).rejects.toBe(declined);
    expect(everythingIn(installation.dir)).toEqual(before);
  });

  test('and a move makes what it needs only after the consent', async () => {
    const confirm = async () => {
      expect(Object.keys(everythingIn(installation.dir)).join()).not.toContain('.seed');
      writeFileSync(join(installation.dir, 'asked'), '');
    };
    await move({ installation, to: distributed, env, confirm });
    const made = ['asked', ...['callout', 'system', 'issuer'].map((name) => `secrets/bus-${name}.seed`)];
    expect(Object.keys(everythingIn(installation.dir))).toEqual(expect.arrayContaining(made));
  });
});
