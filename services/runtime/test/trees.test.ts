import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { createLog } from '../../kit/log.ts';
import type { Channel } from '../launchers/channel.ts';
import { createChildLauncher } from '../launchers/child.ts';
import { endLeftovers, openChildNotes } from '../launchers/leftovers.ts';
import { createLook, findBirth, markVariable } from '../launchers/processes.ts';
import { createSpawnOpenly } from '../launchers/spawn-child.ts';
import { openTemporaryFolders } from '../launchers/temporary-folders.ts';
import { Platform, script } from './platform.ts';

vi.setConfig({ testTimeout: 60_000 });

const look = createLook();

/** The pids of live processes. A zombie has ended. */
async function living(pids: readonly number[]): Promise<readonly number[]> {
  const all = new Set((await look()).map(({ pid }) => pid));
  return pids.filter((pid) => all.has(pid));
}

/** A folder and a launcher of children in it, without a runtime. */
async function launching() {
  const stack = new AsyncDisposableStack();
  const workingDir = await mkdtemp(path.join(tmpdir(), 'svc-trees-'));
  stack.defer(() => rm(workingDir, { recursive: true, force: true, maxRetries: 5 }));
  const log = createLog({ service: 'runtime', level: 'error', destination: { write: (line) => expect.fail(line) } });
  const inherited = { PATH: process.env.PATH ?? '' };
  const notes = await openChildNotes(workingDir);
  const temporaryFolders = await openTemporaryFolders(workingDir);
  const launch = createChildLauncher({
    places: { workingDir, sandbox: 'auto', userHome: null, temporaryFolders },
    inherited,
    forwarded: null,
    notes,
    log,
    spawnChild: createSpawnOpenly(look),
  });
  const started = new Set<string>();
  const start = async (command: string, args: string[]): Promise<Channel> => {
    const listener = { message: () => false, lost() {}, garbage() {}, renewed() {}, ended() {} };
    const order = { kind: 'child' as const, command, args, cwd: null, env: {} };
    const mcpServer = newId('mcpServer');
    started.add(path.join(workingDir, 'homes', mcpServer));
    const launched = await launch({
      mcpServer,
      workspace: newId('workspace'),
      name: 'one',
      setBy: 'operator',
      launch: order,
      listener,
    });
    if (!launched.ok) throw new Error(launched.reason.message);
    return launched.channel;
  };
  return { workingDir, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Leaks of these tests: processes that work in the folder, and this process's descriptors. */
async function leaks(workingDir: string) {
  const processes = (await look()).filter(({ mark }) => mark !== null && marks.has(mark));
  const notes = await readdir(path.join(workingDir, 'children'));
  const descriptors = await readdir('/proc/self/fd');
  return { processes: processes.length, notes: notes.length, descriptors: descriptors.length };
}

const marks = new Set<string>();

async function noteMarks(): Promise<void> {
  for (const { mark, parent } of await look()) if (parent === process.pid && mark !== null) marks.add(mark);
}

test.runIf(process.platform === 'linux')(
  'a thousand starts and stops leave no process, no descriptor and no note',
  async () => {
    await using launcher = await launching();
    const grandchild = ['-c', 'sleep 600 & cat > /dev/null'];
    const warm = await launcher.start('sh', grandchild);
    await warm.stop();
    const before = await leaks(launcher.workingDir);

    // First, the test shows that it notices a leak.
    const left = await launcher.start('sh', grandchild);
    await vi.waitFor(async () => expect(await readdir(path.join(launcher.workingDir, 'children'))).toHaveLength(1));
    await noteMarks();
    // The shell starts its own child after a moment.
    await vi.waitFor(async () => {
      const noticed = await leaks(launcher.workingDir);
      expect(noticed.processes).toBeGreaterThanOrEqual(before.processes + 2);
      expect(noticed.descriptors).toBeGreaterThanOrEqual(before.descriptors + 3);
      expect(noticed.notes).toBe(1);
    });
    await left.stop();

    for (let round = 0; round < 50; round++) {
      const channels = await Promise.all(Array.from({ length: 20 }, () => launcher.start('sh', grandchild)));
      await noteMarks();
      await Promise.all(channels.map((channel) => channel.stop()));
    }
    expect(marks.size).toBeGreaterThan(1000);
    expect(await leaks(launcher.workingDir)).toEqual({ ...before, processes: 0, notes: 0 });
  },
);

test('the whole tree of a child ends with it, whatever its members do to escape', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('grandchildren') });
  const running = await platform.startRuntime();
  await platform.connected('one');
  const pids: number[] = JSON.parse(await platform.say('one', {}));
  expect(pids).toHaveLength(4);
  expect(await living(pids)).toEqual(pids);
  await running.stop();
  // macOS shows no environments: a process that left its group and lost its parent is found on Linux only.
  const findable = process.platform === 'linux' ? pids : pids.slice(0, 3);
  expect(await living(findable)).toEqual([]);
});

test('the tree of a killed child ends too, before it is restarted', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('grandchildren') });
  await platform.startRuntime();
  await platform.connected('one');
  const [root = 0, ...others]: number[] = JSON.parse(await platform.say('one', {}));
  process.kill(root, 'SIGKILL');
  await platform.reported('one', ({ status, restarts }) => status === 'Connected' && restarts === 1);
  expect(await living(process.platform === 'linux' ? others : others.slice(0, 2))).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'a process that left environment, group and session ends with a child that ends by itself at its closed input',
  async () => {
    await using platform = await Platform.open();
    platform.assign({ one: script('escaping') });
    const running = await platform.startRuntime();
    await platform.connected('one');
    const pids: number[] = JSON.parse(await platform.say('one', {}));
    expect(await living(pids)).toEqual(pids);
    await running.stop();
    const left = await living(pids);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    expect(left).toEqual([]);
  },
);

test('stopping takes seconds if a child neither reads nor ends', async () => {
  await using platform = await Platform.open();
  platform.assign({ one: script('stubborn'), two: script('deaf'), three: script('silent') });
  const running = await platform.startRuntime();
  await platform.connected('one');
  await platform.connected('two');
  const pid = Number(await platform.say('one', {}));
  const before = performance.now();
  await running.stop();
  expect(performance.now() - before).toBeLessThan(8000);
  expect(await living([pid])).toEqual([]);
});

test('children of a killed runtime are ended by the next one, and nothing else is', async () => {
  await using launcher = await launching();
  const { workingDir } = launcher;
  const notes = path.join(workingDir, 'children');
  const host = spawn(process.execPath, [path.join(import.meta.dirname, 'children', 'killed-runtime.mjs'), workingDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(host.stdout, 'data');
  const pids: number[] = JSON.parse(String(line));
  host.kill('SIGKILL');
  await once(host, 'exit');
  expect(await living(pids)).toEqual(pids);

  // A note about a process of this runtime, and one about a reused pid.
  const bystander = spawn('sleep', ['600'], { detached: true });
  const dead = { pid: 1, birth: 'earlier' };
  const somebody = [
    { mark: 'somebodyelse', owner: dead },
    { pid: bystander.pid, birth: 'earlier' },
  ];
  await writeFile(path.join(notes, 'somebodyelse'), somebody.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const own = await launcher.start('cat', []);
  await vi.waitFor(async () => expect(await readdir(notes)).toHaveLength(3));

  expect(await endLeftovers(workingDir, look)).toBe(1);
  expect(await living(pids)).toEqual([]);
  expect(await living([bystander.pid ?? 0])).toHaveLength(1);
  expect(await readdir(notes)).toHaveLength(1);
  await own.stop();
  bystander.kill('SIGKILL');
});

test('a child whose runtime was killed before it knew the pid is ended by its mark', async () => {
  await using launcher = await launching();
  const { workingDir } = launcher;
  const notes = path.join(workingDir, 'children');
  const child = spawn('sleep', ['600'], { detached: true, env: { ...process.env, [markVariable]: 'bornunnoticed' } });
  const line = JSON.stringify({ mark: 'bornunnoticed', owner: { pid: 1, birth: 'earlier' } });
  await writeFile(path.join(notes, 'bornunnoticed'), `${line}\n{"pid":`);
  await vi.waitFor(async () => expect((await look()).map(({ mark }) => mark)).toContain('bornunnoticed'));
  expect(await endLeftovers(workingDir, look)).toBe(1);
  expect(await living([child.pid ?? 0])).toEqual([]);
  expect(await readdir(notes)).toEqual([]);
});

test('leftover children are signalled all at once, and killed only then', async () => {
  await using launcher = await launching();
  const { workingDir } = launcher;
  const stubborn = async (mark: string): Promise<number> => {
    const script = "trap '' TERM; echo ready; while :; do sleep 600; done";
    const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    const pid = child.pid ?? 0;
    const lines = [
      { mark, owner: { pid: 1, birth: 'earlier' } },
      { pid, birth: await findBirth(pid) },
    ];
    const note = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    await writeFile(path.join(workingDir, 'children', mark), note);
    return pid;
  };
  const pids = await Promise.all(['stubborn1', 'stubborn2', 'stubborn3'].map(stubborn));
  const kill = vi.spyOn(process, 'kill');
  expect(await endLeftovers(workingDir, look)).toBe(3);
  const signals = kill.mock.calls.filter(([pid]) => pids.includes(pid)).map(([, signal]) => signal);
  kill.mockRestore();
  expect(signals.slice(0, 4)).toEqual(['SIGTERM', 'SIGTERM', 'SIGTERM', 'SIGKILL']);
  expect(await living(pids)).toEqual([]);
});

test('a child is noted before it starts', async () => {
  await using launcher = await launching();
  const seen = path.join(launcher.workingDir, 'seen');
  const channel = await launcher.start('sh', ['-c', `ls "${launcher.workingDir}/children" > "${seen}"; cat`]);
  await vi.waitFor(async () => expect(await readFile(seen, 'utf8')).toMatch(/^\w{20}\n$/));
  await channel.stop();
});

test('the start time of a process distinguishes it from all others', async () => {
  const birth = await findBirth(process.pid);
  expect(birth).not.toBeNull();
  expect(await findBirth(process.pid)).toBe(birth);
  expect(await findBirth(process.ppid)).not.toBe(birth);
});

test('homes are for this user only', async () => {
  await using launcher = await launching();
  const channel = await launcher.start('cat', []);
  const [home = ''] = await readdir(path.join(launcher.workingDir, 'homes'));
  expect((await stat(path.join(launcher.workingDir, 'homes', home))).mode & 0o777).toBe(0o700);
  await channel.stop();
});
