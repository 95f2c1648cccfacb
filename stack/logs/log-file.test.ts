import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogFile } from './log-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-log-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const read = (name: string) => readFileSync(join(dir, name), 'utf8');

test('lines are written in order, after the existing ones', () => {
  for (const lines of [['a\n', 'b\n'], ['c\n']]) {
    const log = new LogFile({ path: join(dir, 'x.log'), sizeMaxBytes: 1000, filesKept: 2 });
    for (const line of lines) log.write(line);
    log.close();
  }
  expect(read('x.log')).toBe('a\nb\nc\n');
});

test('its size is limited: full files are renamed, the oldest is removed, no line is cut', () => {
  const log = new LogFile({ path: join(dir, 'x.log'), sizeMaxBytes: 100, filesKept: 2 });
  for (let i = 0; i < 100; i++) {
    log.write(`line ${String(i).padStart(4, '0')}\n`);
    log.flush();
  }
  log.close();
  expect(readdirSync(dir).sort()).toEqual(['x.log', 'x.log.1', 'x.log.2']);
  for (const name of readdirSync(dir)) {
    expect(read(name).length, name).toBeLessThanOrEqual(110);
    expect(read(name), name).toMatch(/^(line \d{4}\n)+$/);
  }
  const all = ['x.log.2', 'x.log.1', 'x.log'].map(read).join('');
  expect(all.endsWith('line 0098\nline 0099\n')).toBe(true);
});

test('an unwritable disk loses lines, not the platform, and the log reports it later', () => {
  const path = join(dir, 'gone', 'x.log');
  const log = new LogFile({ path, sizeMaxBytes: 1000, filesKept: 1 });
  log.write('lost\n');
  log.write('lost\n');
  log.flush();
  mkdirSync(join(dir, 'gone'));
  log.write('kept\n');
  log.close();
  const [note, line] = readFileSync(path, 'utf8').split('\n');
  expect(JSON.parse(note ?? '')).toMatchObject({ level: 'warn', lines: 2 });
  expect(line).toBe('kept');
});
