import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readJson, writeDurably, writeIfAbsent } from './durable-file.ts';
import { findRunning } from './find-running.ts';
import { type Installation, installationIn } from './installation.ts';
import { acquireLock } from './lock.ts';
import { readManifest, recordCreated } from './manifest.ts';
import { readRecord } from './platform-record.ts';
import { isAlive, memoryOf, ownIdentity, startTimeOf } from './process-identity.ts';

let installation: Installation;
beforeEach(() => {
  installation = installationIn(mkdtempSync(join(tmpdir(), 'svc-state-')));
  mkdirSync(installation.stateDir);
  mkdirSync(installation.dataDir);
});
afterEach(() => rmSync(installation.dir, { recursive: true, force: true }));

/** A process that takes the lock, reports it, and keeps it until it is killed. */
async function holdElsewhere() {
  const program = `
    import { acquireLock } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)};
    acquireLock({ stateDir: ${JSON.stringify(installation.stateDir)} }, 'command');
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

describe('the lock', () => {
  test('of each name admits one, and the next when it is released, at most once', () => {
    const lock = acquireLock(installation, 'command');
    acquireLock(installation, 'platform').release();
    expect(() => acquireLock(installation, 'command')).toThrow(expect.objectContaining({ code: 'conflict' }));
    lock.release();
    const next = acquireLock(installation, 'command');
    expect(() => lock.release()).not.toThrow();
    expect(() => acquireLock(installation, 'command')).toThrow(/is working on/);
    next.release();
  });

  test('of a platform is beside the data it protects: a loss of other folders does not remove it', () => {
    const lock = acquireLock(installation, 'platform');
    rmSync(installation.stateDir, { recursive: true });
    mkdirSync(installation.stateDir);
    expect(findRunning(installation)).toEqual({ ...ownIdentity(), record: null, isAbandoned: false });
    expect(() => acquireLock(installation, 'platform')).toThrow(`A platform (process ${process.pid}) runs`);
    lock.release();
    expect(findRunning(installation)).toBeNull();
  });

  test('held by another process is a conflict that names the holder; a kill -9 releases it', async () => {
    const holder = await holdElsewhere();
    expect(() => acquireLock(installation, 'command')).toThrow(`Another svc (process ${holder.pid}) is working`);
    const exited = once(holder, 'exit');
    holder.kill('SIGKILL');
    await exited;
    acquireLock(installation, 'command').release();
  });
});

describe('a process', () => {
  test('is distinguished from a later one with its pid', () => {
    const own = ownIdentity();
    expect(isAlive(own)).toBe(true);
    expect(isAlive({ ...own, startTime: `${own.startTime}0` })).toBe(false);
  });

  test('has a size and a time of its start, unless it never existed', () => {
    expect(memoryOf(process.pid)).toBeGreaterThan(10_000_000);
    const never = 2 ** 22 + 1;
    expect([memoryOf(never), startTimeOf(never)]).toEqual([null, null]);
  });
});

describe('a file', () => {
  test('is replaced atomically, with its mode, and leaves no draft', () => {
    const file = join(installation.stateDir, 'x.json');
    writeDurably(file, '1');
    writeDurably(file, '2');
    expect(readJson(file)).toBe(2);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(installation.stateDir)).toEqual(['x.json']);
  });

  test('that exists is not overwritten', () => {
    const file = join(installation.stateDir, 'key');
    expect(writeIfAbsent(file, 'first')).toBe(true);
    expect(writeIfAbsent(file, 'second')).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('first');
    expect(readdirSync(installation.stateDir)).toEqual(['key']);
  });

  test('that is missing or damaged is ignored', () => {
    expect(readJson(join(installation.stateDir, 'nothing.json'))).toBeNull();
    writeFileSync(join(installation.stateDir, 'process.json'), '{"pid": 1');
    expect(readRecord(installation)).toBeNull();
    writeFileSync(join(installation.stateDir, 'process.json'), '{"pid": "x"}');
    expect(readRecord(installation)).toBeNull();
  });
});

test('the manifest keeps its entries without duplicates', () => {
  const [file, folder] = [{ kind: 'file', path: 'a' } as const, { kind: 'folder', path: 'b' } as const];
  recordCreated(installation, [file]);
  recordCreated(installation, [file, folder]);
  expect(readManifest(installation)).toEqual([file, folder]);
});
