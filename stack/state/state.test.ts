import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { isFree } from '../machine/is-free.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { freePort } from '../test/free-ports.ts';
import { readJson, writeDurably, writeIfAbsent } from './durable-file.ts';
import { findRunning } from './find-running.ts';
import { type Installation, installationIn } from './installation.ts';
import { acquireLock } from './lock.ts';
import { readManifest, recordCreated } from './manifest.ts';
import { readRecord } from './platform-record.ts';
import { isAlive, memoryOf, ownIdentity, startTimeOf } from './process-identity.ts';

const dir = folderOfEachTest();
let installation: Installation;
beforeEach(() => {
  installation = installationIn(dir());
  for (const folder of [installation.stateDir, installation.dataDir]) mkdirSync(folder);
});

describe('the lock', () => {
  test('of each name admits one, and the next when it is released, at most once', () => {
    const lock = acquireLock(installation, 'command');
    acquireLock(installation, 'platform').release();
    expect(() => acquireLock(installation, 'command')).toThrow(expect.objectContaining({ code: 'conflict' }));
    lock.release();
    using _next = acquireLock(installation, 'command');
    lock.release();
    expect(() => acquireLock(installation, 'command')).toThrow(`Another svc (process ${process.pid}) is working on`);
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
});

describe('a process', () => {
  test('is distinguished from a later one with its pid', () => {
    const own = ownIdentity();
    expect(isAlive(own)).toBe(true);
    expect(isAlive({ ...own, startTime: `${own.startTime}0` })).toBe(false);
  });

  test('that ended has no port any more, whichever of its threads ends last', async () => {
    const port = await freePort();
    const listen = `require('node:net').createServer().listen({ port: ${port}, host: '127.0.0.1' }, () => console.log('listens'))`;
    for (let turn = 0; turn < 30; turn++) {
      const child = spawn(process.execPath, ['--eval', listen], { stdio: ['ignore', 'pipe', 'ignore'] });
      const gone = once(child, 'exit');
      await once(child.stdout, 'data');
      const identity = { pid: child.pid ?? 0, startTime: startTimeOf(child.pid ?? 0) ?? '' };
      expect(isAlive(identity)).toBe(true);
      child.kill('SIGKILL');
      // The loop does not pause, because Node would reap the child during a pause.
      for (const until = performance.now() + 5000; isAlive(identity) && performance.now() < until; );
      expect(isAlive(identity)).toBe(false);
      expect(await isFree('127.0.0.1', port), `turn ${turn}`).toBe(true);
      await gone;
      expect(startTimeOf(identity.pid)).not.toBe(identity.startTime);
    }
  }, 60_000);

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
