import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { boundLog, LogFile } from './log-file.ts';

const dir = folderOfEachTest();
const path = () => join(dir(), 'x.log');

const read = (name: string) => readFileSync(join(dir(), name), 'utf8');
const bound = { fileSizeMaxMb: 100 / 1024 / 1024, filesKept: 2 };

describe('a log of this process', () => {
  test('has its lines in order, after the existing ones', () => {
    for (const lines of [['a\n', 'b\n'], ['c\n']]) {
      const log = new LogFile(path(), bound);
      for (const line of lines) log.write(line);
      log.close();
    }
    expect(read('x.log')).toBe('a\nb\nc\n');
  });

  test('keeps its limit: the oldest lines go, and no line is cut', () => {
    const log = new LogFile(path(), bound);
    for (let i = 0; i < 100; i++) {
      log.write(`line ${String(i).padStart(4, '0')}\n`);
      log.flush();
    }
    log.close();
    expect(readdirSync(dir()).sort()).toEqual(['x.log', 'x.log.1', 'x.log.2']);
    for (const name of readdirSync(dir())) {
      expect(read(name).length, name).toBeLessThanOrEqual(110);
      expect(read(name), name).toMatch(/^(line \d{4}\n)+$/);
    }
    const all = ['x.log.2', 'x.log.1', 'x.log'].map(read).join('');
    expect(all.endsWith('line 0098\nline 0099\n')).toBe(true);
  });

  test('loses lines, not the platform, on an unwritable disk, and reports it later', () => {
    const gone = join(dir(), 'gone', 'x.log');
    const log = new LogFile(gone, bound);
    log.write('lost\n');
    log.write('lost\n');
    log.flush();
    mkdirSync(join(dir(), 'gone'));
    log.write('kept\n');
    log.close();
    const [note, line] = readFileSync(gone, 'utf8').split('\n');
    expect(JSON.parse(note ?? '')).toMatchObject({ level: 'warn', lines: 2 });
    expect(line).toBe('kept');
  });
});

describe('a log of another process', () => {
  test('stays while it is small, and is not created', () => {
    boundLog(path(), bound);
    writeFileSync(path(), 'x'.repeat(100));
    boundLog(path(), bound);
    expect(readdirSync(dir())).toEqual(['x.log']);
  });

  test('keeps only the end of a flood', () => {
    writeFileSync(path(), `${'a'.repeat(10_000)}${'z'.repeat(200)}`);
    boundLog(path(), bound);
    expect(read('x.log.1')).toBe('z'.repeat(200));
  });

  test('continues at its new beginning', async () => {
    const output = openSync(path(), 'a');
    const child = spawn('/bin/sh', ['-c', 'while read -r word; do echo "$word"; done'], {
      stdio: ['pipe', output, 'ignore'],
    });
    const say = async (word: string) => {
      const before = statSync(path()).size;
      child.stdin?.write(`${word}\n`);
      while (statSync(path()).size === before) await new Promise(setImmediate);
    };
    await say('x'.repeat(150));
    boundLog(path(), bound);
    await say('after');
    child.stdin?.end();
    await once(child, 'exit');
    expect([read('x.log'), read('x.log.1')]).toEqual(['after\n', `${'x'.repeat(150)}\n`]);
  });
});
