import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bootServiceOf } from '../../boot/boot-service.ts';
import { findRunning } from '../../state/find-running.ts';
import type { Installation } from '../../state/installation.ts';
import { folderOfEachTest } from '../../test/folder-of-each-test.ts';
import { freeServicePorts } from '../../test/free-ports.ts';
import { until } from '../../test/until.ts';
import { createInstallation } from '../create-installation.ts';
import { destroy } from '../destroy.ts';
import { down } from '../down.ts';
import { status } from '../status.ts';
import { up } from '../up.ts';
import { pidOf } from './installed.ts';

vi.setConfig({ testTimeout: 120_000 });
const folder = folderOfEachTest();
const { env } = process;

async function start(...path: readonly string[]): Promise<Installation> {
  const { installation } = await createInstallation({ dir: join(folder(), ...path), ports: await freeServicePorts() });
  onTestFinished(async () => {
    if (existsSync(installation.definitionFile)) await down({ installation });
  });
  await up({ installation, env });
  return installation;
}

/** The temporary folders of the running runtimes of an installation, as its notes name them. */
function temporaryOf({ dataDir }: Installation): readonly string[] {
  return globSync(join(dataDir, 'runtime/temporary/svc-*')).map((note) => JSON.parse(readFileSync(note, 'utf8')).base);
}

test('a stop, a kill and a removal of one leave others alone: one of the same name, and one in its folder', async () => {
  const outer = await start('one', 'svc');
  const others = [await start('two', 'svc'), await start('one', 'svc', 'tools', 'svc')];
  const pids = others.map(pidOf);
  const expectUntouched = async () => {
    expect(others.map(pidOf)).toEqual(pids);
    for (const installation of others) {
      expect(await status({ installation })).toMatchObject({ state: 'running', copyOf: null });
      expect(temporaryOf(installation).map((base) => existsSync(base))).toEqual([true]);
    }
  };
  const units = [outer, ...others].map(
    (installation) => bootServiceOf({ installation, env, isSystem: false, script: 's' }).unit,
  );
  expect(new Set(units).size).toBe(3);
  await down({ installation: outer });
  await expectUntouched();
  await up({ installation: outer, env });
  process.kill(pidOf(outer), 'SIGKILL');
  await until(() => findRunning(outer) === null);
  await up({ installation: outer, env });
  await expectUntouched();
  const { stays } = await destroy({
    installation: outer,
    env,
    agree: async () => undefined,
    onProgress: () => undefined,
  });
  expect([stays, existsSync(outer.stateDir)]).toEqual([['tools'], false]);
  await expectUntouched();
});

test.each(['data', 'state', 'logs', 'secrets'])(
  'none is created in %s/ of another one, which svc destroy removes',
  async (name) => {
    const { installation } = await createInstallation({ dir: join(folder(), 'svc') });
    const inside = join(installation.dir, name, 'deep', 'svc');
    await expect(createInstallation({ dir: inside })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(`is in ${name}/ of the installation in "${installation.dir}"`),
    });
    expect(existsSync(inside)).toBe(false);
    // Again in the same folder is no other installation.
    expect((await createInstallation({ dir: installation.dir })).steps.every(({ outcome }) => outcome === 'kept')).toBe(
      true,
    );
  },
);
