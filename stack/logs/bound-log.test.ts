import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { boundLog } from './bound-log.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-bound-'));
  path = join(dir, 'x.log');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const bound = { sizeMaxBytes: 100, filesKept: 2 };

test('a small one stays, and a missing one is not created', () => {
  boundLog(path, bound);
  writeFileSync(path, 'x'.repeat(100));
  boundLog(path, bound);
  expect(readdirSync(dir)).toEqual(['x.log']);
});

test('a full one begins again, the previous one is kept, and the oldest is removed', () => {
  for (const letter of ['a', 'b', 'c']) {
    writeFileSync(path, `${letter.repeat(150)}\n`);
    boundLog(path, bound);
    expect(statSync(path).size).toBe(0);
  }
  expect(readdirSync(dir).sort()).toEqual(['x.log', 'x.log.1', 'x.log.2']);
  expect(readFileSync(`${path}.1`, 'utf8')).toBe(`${'c'.repeat(150)}\n`);
  expect(readFileSync(`${path}.2`, 'utf8')).toBe(`${'b'.repeat(150)}\n`);
});

test('of a flood the end is kept', () => {
  writeFileSync(path, `${'a'.repeat(10_000)}${'z'.repeat(200)}`);
  boundLog(path, bound);
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('z'.repeat(200));
});

test('a writer continues at its new beginning', async () => {
  const output = openSync(path, 'a');
  const child = spawn('/bin/sh', ['-c', 'while read -r word; do echo "$word"; done'], {
    stdio: ['pipe', output, 'ignore'],
  });
  const say = async (word: string) => {
    const before = statSync(path).size;
    child.stdin?.write(`${word}\n`);
    while (statSync(path).size === before) await new Promise(setImmediate);
  };
  await say('x'.repeat(150));
  boundLog(path, bound);
  await say('after');
  child.stdin?.end();
  await once(child, 'exit');
  expect(readFileSync(path, 'utf8')).toBe('after\n');
});
