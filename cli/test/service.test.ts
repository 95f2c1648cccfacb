import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createInstallation } from '../../stack/operations/create-installation.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { folderOfEachTest } from '../../stack/test/folder-of-each-test.ts';
import { runSvc, svcFile } from './run-svc.ts';

/** Programs of systemd that note how they are called. */
const dir = folderOfEachTest();
let installation: Installation;
let path: string;
let failing: boolean;
beforeEach(async () => {
  ({ installation } = await createInstallation({ dir: join(dir(), 'tools') }));
  failing = false;
  path = join(dir(), 'bin');
  mkdirSync(path);
  program('systemctl', '[ ! -e failing ]');
  program('loginctl', 'echo Linger=no');
});

function program(name: string, body: string): void {
  const file = join(path, name);
  writeFileSync(file, `#!/bin/sh\ncd ${dir()}\necho "${name} $*" >> calls\n${body}\n`);
  chmodSync(file, 0o755);
}

function svc(...args: readonly string[]) {
  if (failing) writeFileSync(join(dir(), 'failing'), '');
  const env = { PATH: `${path}:/usr/bin:/bin` };
  return runSvc([...args, '--dir', installation.dir], { cwd: dir(), env });
}

const calls = () => readFileSync(join(dir(), 'calls'), 'utf8').trim().split('\n');
const unitOf = ({ definitionFile }: Installation) => `svc-${readDefinition(definitionFile).id}.service`;
const fileOf = (of: Installation) => join(dir(), '.config/systemd/user', unitOf(of));

describe.skipIf(process.platform !== 'linux')('svc service', () => {
  test('install writes and enables a unit of this user, says its PATH and asks for lingering; again, it changes nothing', async () => {
    const first = await svc('service', 'install');
    expect(first.code).toBe(0);
    const file = fileOf(installation);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(`ExecStart="${process.execPath}" "${svcFile}" "up" "--foreground"`);
    expect(text).toContain(`Environment="PATH=${path}:/usr/bin:/bin"`);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('644');
    expect(first.stdout).toContain(`${path}:/usr/bin:/bin`);
    expect(first.stderr).toContain('loginctl enable-linger');
    expect(first.stderr).toContain(`systemctl --user start ${unitOf(installation)}`);
    const reload = 'systemctl --user daemon-reload';
    expect(calls().slice(0, 3)).toEqual([reload, reload, `systemctl --user enable ${unitOf(installation)}`]);
    const { stdout } = await svc('service', 'install', '--json');
    expect(JSON.parse(stdout)).toEqual({
      ...{ unit: unitOf(installation), file, system: false, linger: false },
      path: `${path}:/usr/bin:/bin`,
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('uninstall removes the unit of this installation only, and does nothing the second time', async () => {
    await svc('service', 'install');
    const other = await createInstallation({ dir: join(dir(), 'other') });
    await runSvc(['service', 'install', '--dir', other.installation.dir], {
      cwd: dir(),
      env: { PATH: `${path}:/usr/bin:/bin` },
    });
    const run = await svc('service', 'uninstall');
    expect([run.code, existsSync(fileOf(installation)), existsSync(fileOf(other.installation))]).toEqual([
      0,
      false,
      true,
    ]);
    expect(calls()).toContain(`systemctl --user disable ${unitOf(installation)}`);
    expect((await svc('service', 'uninstall')).stdout).toBe('Nothing to do: no service starts this platform.\n');
  });

  test('svc destroy lists and removes the unit, also where systemd does not answer', async () => {
    await svc('service', 'install');
    failing = true;
    const file = fileOf(installation);
    expect(existsSync(file)).toBe(true);
    const run = await svc('destroy', '--confirm', 'tools');
    expect([run.code, existsSync(file), existsSync(installation.dir)]).toEqual([0, false, false]);
    expect(run.stderr).toContain(`- ${file}`);
  });

  test('without systemd nothing is written, and --print shows the unit', async () => {
    failing = true;
    const run = await svc('service', 'install');
    expect([run.code, run.stdout, existsSync(dirname(fileOf(installation)))]).toEqual([4, '', false]);
    expect(run.stderr).toMatch(/^Error: "systemctl --user daemon-reload" failed: .*\n.*--system/);
    const { code, stdout } = await svc('service', 'install', '--print');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\[Unit\]\n/)]);
  });
});
