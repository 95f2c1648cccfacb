import { chmodSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { openTrial } from '../../stack/operations/test/trial.ts';
import { editDefinition } from '../../stack/test/edit-definition.ts';
import { runSvc } from './run-svc.ts';

vi.setConfig({ testTimeout: 120_000 });

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly detail: string;
  readonly repair: string | null;
}

/** The findings that are not well, but for those about this machine. */
async function examine(dir: string, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout } = await runSvc(['doctor', '--json'], { cwd: dir, env });
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: readonly Finding[] };
  const ofMachine = new Set(['registries', 'programs', 'clock']);
  return { code, ok, checks, problems: checks.filter((one) => one.state !== 'ok' && !ofMachine.has(one.check)) };
}

const about = (problems: readonly Finding[]) => problems.map(({ check, state }) => `${check}: ${state}`);

test('a running platform is well, and its checks have names', async () => {
  await using trial = await openTrial();
  await trial.up();
  const { code, ok, checks, problems } = await examine(trial.installation.dir);
  expect([code, ok, problems]).toEqual([0, true, []]);
  expect([...new Set(checks.map(({ check }) => check))]).toEqual(
    expect.arrayContaining([
      'svc.yaml',
      'Node',
      'disk',
      'clock',
      'file modes',
      'programs',
      'PATH',
      'secrets',
      'ports',
      'public address',
      'platform',
    ]),
  );
  const elsewhere = await examine(trial.installation.dir, { PATH: `/nowhere/bin:${process.env.PATH}` });
  expect(elsewhere.problems).toEqual([
    {
      check: 'PATH',
      state: 'warning',
      detail: 'MCP servers find no programs in /nowhere/bin: the platform was started with another PATH.',
      repair: 'Start it from this shell: svc up',
    },
  ]);
});

describe('a stopped platform: each problem is told with its repair', () => {
  test('a port that svc.yaml sets is taken', async () => {
    await using trial = await openTrial();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(trial.ports[0], '127.0.0.1', resolve));
    const { code, problems } = await examine(trial.installation.dir);
    server.close();
    expect([code, about(problems)]).toEqual([1, ['ports: failed', 'platform: warning']]);
    expect(problems[0]?.detail).toMatch(
      new RegExp(`^Port ${trial.ports[0]} of backend is in use by ".*" \\(pid ${process.pid}\\)\\.$`),
    );
  });

  test('others can read a secret', async () => {
    await using trial = await openTrial();
    chmodSync(join(trial.installation.secretsDir, 'encryption.key'), 0o644);
    const { problems } = await examine(trial.installation.dir);
    expect(problems[0]).toEqual({
      check: 'file modes',
      state: 'failed',
      detail: 'Others on this machine can read the platform: encryption.key has mode 0644.',
      repair: 'Repair the modes: svc up',
    });
  });

  test('the key is not that of the data', async () => {
    await using trial = await openTrial();
    await trial.up();
    await trial.down();
    writeFileSync(join(trial.installation.secretsDir, 'encryption.key'), `${'ab'.repeat(32)}\n`);
    const { problems } = await examine(trial.installation.dir);
    expect(problems.find(({ check }) => check === 'secrets')).toMatchObject({
      state: 'failed',
      detail: expect.stringMatching(/is not the key that data\/ is encrypted with/),
    });
  });

  test('the clock was set back', async () => {
    await using trial = await openTrial();
    const later = new Date(Date.now() + 3_600_000);
    utimesSync(join(trial.installation.stateDir, 'manifest.json'), later, later);
    const { checks } = await examine(trial.installation.dir);
    expect(checks.find(({ check }) => check === 'clock')).toMatchObject({
      state: 'failed',
      detail: 'The clock was set back: files of the platform are 60 minutes newer than it.',
    });
  });

  test('svc.yaml is wrong, and the machine is checked all the same', async () => {
    await using trial = await openTrial();
    editDefinition(trial.installation, 'sandbox: auto', 'sandbox: docker');
    const { checks } = await examine(trial.installation.dir);
    expect(checks[0]).toMatchObject({
      check: 'svc.yaml',
      state: 'failed',
      detail: expect.stringMatching(/sandbox must be one of/),
    });
    expect(checks.map(({ check }) => check)).toContain('disk');
    editDefinition(trial.installation, 'sandbox: docker', 'sandbox: auto');
  });

  test('the name of the public address is unknown', async () => {
    await using trial = await openTrial();
    editDefinition(trial.installation, 'topology: embedded', 'topology: distributed');
    editDefinition(trial.installation, /^( *)host: null/m, '$1host: nowhere.invalid');
    const { checks } = await examine(trial.installation.dir);
    expect(checks.find(({ check }) => check === 'public address')).toMatchObject({
      state: 'failed',
      repair: 'Add a DNS record for nowhere.invalid.',
    });
    editDefinition(trial.installation, 'topology: distributed', 'topology: embedded');
    editDefinition(trial.installation, 'host: nowhere.invalid', 'host: null');
  });
});

test('a file for support has settings, state and logs, and no secret', async () => {
  await using trial = await openTrial();
  await trial.up();
  const { dir, logsDir, secretsDir } = trial.installation;
  const key = readFileSync(join(secretsDir, 'encryption.key'), 'utf8').trim();
  writeFileSync(join(logsDir, 'other.log'), `the key is ${key}, or ${Buffer.from(key).toString('base64')}\n`);
  const run = await runSvc(['doctor', '--support', 'support.txt'], { cwd: dir });
  expect(run.stderr).toMatch(/^Wrote ".*support\.txt" \(\d+ KB\)\. Read it before you send it\.\n$/);
  const text = readFileSync(join(dir, 'support.txt'), 'utf8');
  for (const part of [
    '# Machine',
    '# Checks',
    '# Status',
    '# svc.yaml',
    'the key is [secret encryption.key], or [secret encryption.key]',
  ]) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain(key);
  const again = await runSvc(['doctor', '--support', 'support.txt'], { cwd: dir });
  expect(again).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/support\.txt" exists already\.\nName another file\.\n$/),
  });
});
