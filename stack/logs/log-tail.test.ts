import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { boundLog } from './log-file.ts';
import { LogTail } from './log-tail.ts';

const dir = folderOfEachTest();
const file = () => join(dir(), 'x.log');

const write = (text: string | Buffer) => appendFileSync(file(), text);
/** About this many megabytes of numbered lines. */
const large = (megabytes: number) =>
  Array.from({ length: megabytes * 1000 }, (_, i) => `${i} ${'x'.repeat(1050)}\n`).join('');

test('a log that does not exist yet is read from its first line', async () => {
  const tail = new LogTail(file());
  expect(await tail.before()).toEqual([]);
  expect(await tail.next()).toEqual([]);
  write('one\ntwo\n');
  expect(await tail.next()).toEqual(['one', 'two']);
  expect(await tail.next()).toEqual([]);
});

test('an unfinished line arrives when it is complete, whatever its characters', async () => {
  write('one\ntw');
  const tail = new LogTail(file());
  expect(await tail.before()).toEqual(['one']);
  const rest = Buffer.from('o €\n');
  write(rest.subarray(0, 3));
  expect(await tail.next()).toEqual([]);
  write(rest.subarray(3));
  expect(await tail.next()).toEqual(['two €']);
});

test('a cut between two reads loses nothing', async () => {
  write('a first line\n');
  const tail = new LogTail(file());
  await tail.before();
  write('two\n');
  boundLog(file(), { fileSizeMaxMb: 12 / 1024 / 1024, filesKept: 1 });
  write('three\n');
  expect(await tail.next()).toEqual(['two', 'three']);
  write('four\n');
  expect(await tail.next()).toEqual(['four']);
});

test('of files larger than one read, the last whole lines arrive', async () => {
  writeFileSync(`${file()}.1`, large(20));
  write('first\n');
  const lines = await new LogTail(file()).before();
  expect(lines.slice(-2)).toEqual([expect.stringMatching(/^19999 x/), 'first']);
  expect(lines[0]).toMatch(/^\d+ x{1050}$/);
});

test('a large addition comes in pieces', async () => {
  const tail = new LogTail(file());
  write(large(20));
  const lines = [...(await tail.next()), ...(await tail.next())];
  expect(lines).toHaveLength(20_000);
  expect(lines.at(-1)).toMatch(/^19999 x/);
});
