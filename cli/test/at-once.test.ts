import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readWorkspaces } from '../../stack/operations/test/installed.ts';
import { openTrial, platformsOf } from '../../stack/operations/test/trial.ts';
import { isGeneratedSecret } from '../../stack/secrets/ensure-folders.ts';
import { installationIn } from '../../stack/state/installation.ts';
import { readManifest } from '../../stack/state/manifest.ts';
import { folderOfEachTest } from '../../stack/test/folder-of-each-test.ts';
import { runSvc } from './run-svc.ts';

vi.setConfig({ testTimeout: 300_000 });
const folder = folderOfEachTest();

/** Commands that a hurried team types at the same moment. The first six need the installation for themselves. */
const commands = [
  'up',
  'restart',
  'down',
  'up',
  'backup BACKUP',
  'destroy --confirm another-name',
  'apply platform.yaml',
  'keys create NAME',
  'status',
  'server list',
];
const alone = 6;

/** Exit codes beside 0, 4 for a platform that does not run, and 5: a platform that starts is degraded, and the name is wrong. */
const othersOf: Readonly<Record<string, number>> = { status: 1, destroy: 2 };

const refusal =
  /^Error: Another svc \((svc (up|restart|down|backup|destroy), )?process \d+\) is working on this installation\.\nWait until it has finished, then try again\.\n$/m;

test('of ten commands at once on an installation, each works or names the other, and nothing is damaged', async () => {
  await using trial = await openTrial();
  const { installation } = trial;
  const svc = (...args: readonly string[]) => runSvc(args, { cwd: installation.dir });
  writeFileSync(
    join(installation.dir, 'platform.yaml'),
    'workspace: Default\nroles:\n  - { name: Readers, skills: [] }\n',
  );
  await svc('up');
  const refusals: string[] = [];
  const created: string[] = [];
  // The first time the platform runs, the next times it runs or not, as the commands left it.
  for (const round of ['one', 'two', 'three']) {
    const typed = commands.map((line) => line.replace('BACKUP', join(folder(), round)).replace('NAME', `key-${round}`));
    const runs = await Promise.all(typed.map((line) => svc(...line.split(' '))));
    for (const [at, { code, stderr }] of runs.entries()) {
      const what = `svc ${typed[at]}: ${stderr}`;
      const more = othersOf[typed[at]?.split(' ')[0] ?? ''] ?? 4;
      expect([0, more, 4, 5], what).toContain(code);
      if (code === 5) expect(stderr, what).toMatch(refusal);
      if (code === 5) refusals.push(stderr);
      if (code === 0 && typed[at]?.startsWith('keys create')) created.push(`key-${round}`);
    }
    expect(
      runs.slice(0, alone).filter(({ code }) => code === 0),
      `round ${round}`,
    ).not.toEqual([]);
    expect(platformsOf(installation).length).toBeLessThanOrEqual(1);
  }
  expect(refusals.length).toBeGreaterThan(3);
  expect(refusals.join('')).toMatch(/Another svc \(svc [a-z]+, process/);
  // No command left anything that the next one cannot use.
  expect(await svc('up')).toMatchObject({ code: 0 });
  expect(platformsOf(installation)).toHaveLength(1);
  expect(await readWorkspaces(installation)).toHaveLength(1);
  const { keys } = JSON.parse((await svc('keys', 'list', '--json')).stdout);
  expect(keys.map(({ name }: { name: string }) => name).sort()).toEqual(created.sort());
  expect(await svc('config', 'check')).toMatchObject({ code: 0 });
});

test('ten svc init at once in an empty folder make one installation, which works and can be removed', async () => {
  const dir = join(folder(), 'tools');
  const svc = (...args: readonly string[]) => runSvc(args, { cwd: folder() });
  const runs = await Promise.all(Array.from({ length: 10 }, () => svc('init', 'tools', '--yes', '--json')));
  expect(runs.map(({ code }) => code)).toEqual(runs.map(() => 0));
  const steps = runs.flatMap(({ stdout }) => JSON.parse(stdout).steps);
  const created = steps.flatMap(({ path, outcome }: Record<string, string>) => (outcome === 'created' ? [path] : []));
  expect(created.filter((path) => path === 'svc.yaml')).toHaveLength(1);
  // Each file is made by one command, whichever it is.
  expect(created.toSorted()).toEqual([...new Set(created)].toSorted());
  const installation = installationIn(dir);
  const recorded = readManifest(installation).map(({ path }) => path);
  const secrets = created.filter((path) => isGeneratedSecret(`${path}`));
  expect(secrets.length).toBeGreaterThan(4);
  for (const path of secrets) expect(recorded).toContain(path);
  expect(await svc('up', '--dir', dir)).toMatchObject({ code: 0 });
  const name = /^name: (\S+)/m.exec(readFileSync(installation.definitionFile, 'utf8'))?.[1] ?? '';
  const { code, stdout } = await svc('destroy', '--dir', dir, '--confirm', name, '--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { removed: true, kept: [] }]);
});
