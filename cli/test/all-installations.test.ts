import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startFakeDaemon } from '../../stack/engines/docker/test/fake-daemon.ts';
import { createInstallation } from '../../stack/operations/create-installation.ts';
import { pidOf } from '../../stack/operations/test/installed.ts';
import { openTrial, platformsOf } from '../../stack/operations/test/trial.ts';
import { readDefinition } from '../../stack/settings/check.ts';
import { readId } from '../../stack/state/find-original.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { noteInstallation } from '../../stack/state/known-installations.ts';
import { startTimeOf } from '../../stack/state/process-identity.ts';
import { markedProcesses, markOf } from '../../stack/state/process-mark.ts';
import { editDefinition } from '../../stack/test/edit-definition.ts';
import { folderOfEachTest } from '../../stack/test/folder-of-each-test.ts';
import { freeBusPorts } from '../../stack/test/free-ports.ts';
import { hasNatsServer } from '../../stack/test/platform.ts';
import { processesAreShown } from '../../stack/test/running-processes.ts';
import { runSvc } from './run-svc.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Holds the list of the user of a test, and folders. */
const folder = folderOfEachTest();
const inList = () => ({ XDG_STATE_HOME: join(folder(), 'state') });
const svc = (...args: readonly string[]) => runSvc(args, { cwd: folder(), env: inList() });
const listed = () => readdirSync(join(folder(), 'state/svc/installations'));

interface Row {
  readonly id: string;
  readonly dir: string;
  readonly state: string;
  readonly reason: string | null;
}

async function list(): Promise<readonly Row[]> {
  const { code, stdout, stderr } = await svc('status', '--all', '--json');
  expect(stderr + code).toMatch(/0$/);
  const rows: readonly Row[] = JSON.parse(stdout).installations;
  // Other suites run platforms meanwhile.
  return rows.filter(({ dir }) => dir.startsWith(`${folder()}/`) || trials.includes(dir));
}

const trials: string[] = [];

/** An installation in a folder of its own, on free ports. */
async function open() {
  const trial = await openTrial();
  trials.push(trial.installation.dir);
  return trial;
}

async function works(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await svc(...args);
  expect(stderr + code).toMatch(/0$/);
  return stdout + stderr;
}

const idOf = ({ dir }: Installation) => readId(dir) ?? '';
const nameOf = ({ definitionFile }: Installation) => readDefinition(definitionFile).name;

/** A stopped installation. Its folder is removed with the test's. */
async function make(name: string): Promise<Installation> {
  const { installation } = await createInstallation({ dir: join(folder(), name) });
  return installation;
}

/** A program of a person, until the test ends. */
async function runProgram(cwd: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 1000)'], {
    ...{ cwd, env, stdio: ['ignore', 'pipe', 'ignore'] },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('svc init lists an installation and svc destroy removes it, also where the list cannot be written', async () => {
  await works('init', 'tools', '--yes');
  const dir = join(folder(), 'tools');
  const id = readId(dir) ?? '';
  expect(await list()).toEqual([
    {
      id,
      name: 'tools',
      dir,
      state: 'stopped',
      urls: expect.objectContaining({ app: expect.any(String) }),
      reason: null,
    },
  ]);
  // Again, and also by the path of a link: nothing changes.
  await works('init', 'tools');
  expect(listed()).toEqual([`${id}.json`]);
  await works('destroy', '--dir', 'tools', '--confirm', 'tools');
  expect([listed(), await list()]).toEqual([[], []]);
  const nowhere = { XDG_STATE_HOME: '/proc/self' };
  const args = ['init', 'other', '--yes'];
  expect(await runSvc(args, { cwd: folder(), env: nowhere })).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('proc'),
  });
  expect(await list()).toEqual([]);
});

test('running and stopped ones are listed, one that does not answer holds nothing up, and one without a folder is forgotten', async () => {
  await using trial = await open();
  const { installation } = trial;
  await works('up', '--dir', installation.dir);
  const [stopped, gone, replaced] = [await make('stopped'), await make('gone'), await make('replaced')];
  for (const one of [stopped, gone, replaced]) await works('init', one.dir);
  editDefinition(stopped, 'topology: embedded', 'topology: embeded');
  rmSync(gone.dir, { recursive: true });
  rmSync(replaced.dir, { recursive: true });
  const successor = await make('replaced');
  const text = await svc('status', '--all');
  for (const line of [
    /^NAME +STATE +FOLDER +APP\n/,
    new RegExp(`^${nameOf(installation)} +running +${installation.dir} +http://localhost:\\d+$`, 'm'),
    new RegExp(`^stopped +unknown +${stopped.dir} +–$`, 'm'),
    /^stopped: .*embeded/m,
  ]) {
    expect(text.stdout).toMatch(line);
  }
  for (const one of [gone, successor]) {
    expect(text.stderr).toContain(`is no longer in ${one.dir}, and nothing of it runs. It is not listed any more.`);
  }
  expect(listed()).toHaveLength(2);
  process.kill(pidOf(installation), 'SIGSTOP');
  onTestFinished(() => void process.kill(pidOf(installation), 'SIGCONT'));
  const began = performance.now();
  expect((await list()).map(({ state }) => state)).toEqual(['degraded', 'unknown']);
  expect(performance.now() - began).toBeLessThan(10_000);
  process.kill(pidOf(installation), 'SIGCONT');
});

test('a copy has an entry of its own once it is an installation, and the entry of the original stays', async () => {
  const original = await make('original');
  await works('init', original.dir);
  const copy = join(folder(), 'copy');
  cpSync(original.dir, copy, { recursive: true });
  await works('init', copy);
  expect((await list()).map(({ dir }) => dir)).toEqual([original.dir]);
  await works('up', '--as-copy', '--dir', copy);
  expect((await list()).map(({ dir, state }) => [dir, state])).toEqual([
    [copy, 'running'],
    [original.dir, 'stopped'],
  ]);
  await works('down', '--dir', copy);
});

test('a Docker that does not answer holds nothing up, and its installation stays listed', async () => {
  await using daemon = await startFakeDaemon(() => undefined);
  const [stopped, inDocker] = [await make('stopped'), await make('in-docker')];
  await works('init', stopped.dir);
  const lost = { id: idOf(inDocker), name: 'in-docker', dir: inDocker.dir, docker: daemon.socket };
  noteInstallation(lost, inList());
  rmSync(inDocker.dir, { recursive: true });
  const began = performance.now();
  expect(await list()).toMatchObject([
    { state: 'unknown', reason: `The Docker at "${daemon.socket}" did not answer.` },
    { state: 'stopped', reason: null },
  ]);
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(listed()).toHaveLength(2);
});

test('an entry that names the folder of another installation, or of another user, says nothing about it', async () => {
  const [one, other] = [await make('one'), await make('other')];
  noteInstallation({ id: idOf(one), name: 'one', dir: other.dir, docker: null }, inList());
  noteInstallation({ id: 'abcdefgh01234567', name: 'root', dir: '/root', docker: null }, inList());
  const { stdout, stderr } = await svc('status', '--all');
  expect(stdout).not.toContain(other.dir);
  expect(stderr).toContain('The installation one is no longer in');
});

/** Removes the folder of a running platform. */
async function expectGoneAndEnded(installation: Installation): Promise<void> {
  const { dir } = installation;
  await works('up', '--dir', dir);
  const [id, name] = [idOf(installation), nameOf(installation)];
  const refused = await svc('down', '--id', id);
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining(`Stop it: svc down --dir ${dir}`) });
  // Programs of a person in that folder, and of another installation.
  const bystanders = [await runProgram(dir), await runProgram(dir, markOf('abcdefgh01234567', 'backend'))];
  const own = markedProcesses().filter((one) => one.id === id);
  expect(own.map(({ process }) => process.pid)).toContain(platformsOf(installation)[0]);
  rmSync(dir, { recursive: true });
  const parts = own.map(({ part, process }) => `${part} (pid ${process.pid})`);
  const { stdout } = await svc('status', '--all');
  expect(stdout).toMatch(new RegExp(`^${name} +gone +${dir} `, 'm'));
  for (const part of parts) expect(stdout).toContain(part);
  expect(stdout).toContain(`End it: svc down --id ${id}`);
  const { code, stdout: answer } = await svc('down', '--id', id, '--json');
  const ended: { name: string; pid: number }[] = JSON.parse(answer).ended;
  expect([code, ended.map((one) => `${one.name} (pid ${one.pid})`).sort()]).toEqual([0, parts.sort()]);
  for (const { process } of own) expect(startTimeOf(process.pid)).not.toBe(process.startTime);
  expect(bystanders.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null]);
  expect((await list()).map((one) => one.id)).not.toContain(id);
  expect(await svc('down', '--id', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('svc status --all') });
}

describe.skipIf(!processesAreShown)('an installation that runs, and whose folder', () => {
  test('was removed, is listed as gone, svc down --id ends it, and nothing else', async () => {
    await using trial = await open();
    await expectGoneAndEnded(trial.installation);
  });

  test('was moved, is listed at its new place, and svc down works there', async () => {
    await using trial = await open();
    const { installation } = trial;
    await works('up', '--dir', installation.dir);
    const moved = realpathSync(folder());
    renameSync(installation.dir, join(moved, 'moved'));
    const place = { dir: join(moved, 'moved'), state: 'running' };
    expect(await list()).toMatchObject([place]);
    await works('down', '--dir', place.dir);
    expect(await list()).toMatchObject([{ ...place, state: 'stopped' }]);
    expect(existsSync(installation.dir)).toBe(false);
  });
});

describe.skipIf(!hasNatsServer || !processesAreShown)('on a real server, a removed installation', () => {
  test('is listed as gone, svc down --id ends every part, and nothing else', async () => {
    await using trial = await open();
    await setDistributed(trial.installation);
    await expectGoneAndEnded(trial.installation);
  });

  test('is found without its entry where also its supervisor was killed, and svc down --id ends it', async () => {
    await using trial = await open();
    const { installation } = trial;
    await setDistributed(installation);
    await works('up', '--dir', installation.dir);
    const id = idOf(installation);
    process.kill(pidOf(installation), 'SIGKILL');
    rmSync(installation.dir, { recursive: true });
    rmSync(join(folder(), 'state'), { recursive: true });
    const [found] = await list();
    expect(found).toMatchObject({ state: 'gone', reason: expect.stringContaining('backend (pid ') });
    expect(found?.reason).not.toContain('platform (pid');
    await works('down', '--id', id);
    expect(markedProcesses().filter((one) => one.id === id)).toEqual([]);
  });
});

/** Each service becomes a process of its own. */
async function setDistributed(installation: Installation): Promise<void> {
  const { port } = await freeBusPorts(1);
  editDefinition(installation, 'topology: embedded', 'topology: distributed');
  editDefinition(installation, /^( {2}port:) auto/m, `$1 ${port}`);
}

test.each([
  ['no id', 'Not-An-Id', 2],
  ['an id of no installation', 'abcdefgh01234567', 1],
])('svc down --id with %s changes nothing', async (_, id, exitCode) => {
  const { code, stderr } = await svc('down', '--id', id);
  expect([code, stderr]).toEqual([exitCode, expect.stringContaining('List all installations: svc status --all')]);
});
