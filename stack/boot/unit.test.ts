import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { type BootPlan, launchdPlistOf, systemdUnitOf } from './unit.ts';

const dir = folderOfEachTest();
const plan: BootPlan = {
  name: 'tools',
  dir: '/srv/tools',
  node: '/opt/node/bin/node',
  script: '/srv/tools/node_modules/svc-platform/dist/svc.cjs',
  path: '/opt/node/bin:/usr/bin',
  owner: null,
};
const odd = '/srv/a "b" \\c 100% $HOME d';

test('a unit of a user starts the platform in the foreground with absolute paths', () => {
  expect(systemdUnitOf(plan)).toBe(`[Unit]
Description=Platform tools of svc
RequiresMountsFor="/srv/tools"

[Service]
WorkingDirectory=/srv/tools
Environment="PATH=/opt/node/bin:/usr/bin"
ExecStart="/opt/node/bin/node" "/srv/tools/node_modules/svc-platform/dist/svc.cjs" "up" "--foreground" "--no-input" "--dir" "/srv/tools"
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 3 5
KillMode=mixed
TimeoutStopSec=75

[Install]
WantedBy=default.target
`);
});

test('a unit of the machine runs as the owner of the folder, after the network', () => {
  const lines = systemdUnitOf({ ...plan, owner: { uid: 1000, gid: 100 } }).split('\n');
  const more = ['After=network-online.target', 'User=1000', 'Group=100', 'WantedBy=multi-user.target'];
  expect(lines).toEqual(expect.arrayContaining(more));
});

test('a path cannot add a setting, and is quoted', () => {
  expect(() => systemdUnitOf({ ...plan, dir: '/srv/x\nExecStartPre=/bin/evil' })).toThrow(/control character/);
  expect(() => systemdUnitOf({ ...plan, path: '/bin\nUser=root' })).toThrow(/control character/);
  const words = '"--dir" "/srv/a \\"b\\" \\\\c 100%% $$HOME d"';
  expect(systemdUnitOf({ ...plan, dir: odd })).toContain(words);
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.skipIf(!hasSystemd)('systemd-analyze', () => {
  test.each([
    ['of a user', null],
    ['of the machine', { uid: 0, gid: 0 }],
  ])('accepts a unit %s, also with odd names', (_, owner) => {
    for (const name of ['tools', odd]) {
      const folder = join(dir(), name);
      mkdirSync(folder, { recursive: true });
      const file = join(dir(), 'svc-x.service');
      const isOdd = name === odd;
      writeFileSync(
        file,
        systemdUnitOf({ ...plan, dir: folder, node: process.execPath, path: isOdd ? odd : plan.path, owner }),
      );
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
      // It also names units of the machine that have nothing to do with this one.
      const about = stderr.split('\n').filter((line) => line.includes('svc-x.service'));
      expect([status, about]).toEqual([0, []]);
    }
  });

  test('and refuses a broken one', () => {
    const file = join(dir(), 'svc-x.service');
    writeFileSync(file, systemdUnitOf({ ...plan, node: 'node' }).replace('Restart=', 'Restrat='));
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    expect(stderr).toContain('Restrat');
  });
});

test('the property list of launchd has the same command, escaped', () => {
  const text = launchdPlistOf('svc.x', { ...plan, dir: '/srv/a&b<c>' });
  expect(text).toContain('<string>/srv/a&amp;b&lt;c&gt;</string>');
  const values = [...text.matchAll(/<string>(.*)<\/string>/g)].map(([, value]) => value);
  const command = [plan.node, plan.script, 'up', '--foreground', '--no-input', '--dir'];
  expect(values.slice(0, command.length + 1)).toEqual(['svc.x', ...command]);
  const tags = [...text.matchAll(/<(\/?)(\w+)(?: [^>]*)?>/g)];
  expect(tags.filter(([, end]) => end === '').length).toBe(tags.filter(([, end]) => end === '/').length);
});
