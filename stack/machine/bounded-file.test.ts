import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { readBounded } from './bounded-file.ts';

const dir = folderOfEachTest();
const sizeMaxBytes = 100_000;

test('a regular file is read whole, up to the limit and not beyond', () => {
  const file = join(dir(), 'file');
  for (const size of [0, 1, sizeMaxBytes]) {
    writeFileSync(file, Buffer.alloc(size, 'x'));
    expect(readBounded(file, { sizeMaxBytes }).equals(Buffer.alloc(size, 'x'))).toBe(true);
  }
  truncateSync(file, sizeMaxBytes + 1);
  expect(() => readBounded(file, { sizeMaxBytes })).toThrow('is longer than 100000 bytes.');
});

test('an endless file that claims to be empty is read up to the limit', () => {
  expect(() => readBounded('/dev/zero', { sizeMaxBytes, takesPipes: true })).toThrow('is longer than 100000 bytes.');
  expect(readBounded('/proc/self/status', { sizeMaxBytes }).toString()).toContain('Name:');
});

test('a file of another kind is refused by its kind, without waiting for it', async () => {
  const fifo = join(dir(), 'fifo');
  spawnSync('mkfifo', [fifo]);
  const socket = join(dir(), 'socket');
  await using server = createServer();
  await once(server.listen(socket), 'listening');
  symlinkSync(fifo, join(dir(), 'link'));
  const kinds = { fifo: 'a pipe (FIFO)', link: 'a pipe (FIFO)', socket: 'a socket', '/dev/zero': 'a device' };
  for (const [name, kind] of Object.entries(kinds)) {
    const file = name.startsWith('/') ? name : join(dir(), name);
    expect(() => readBounded(file, { sizeMaxBytes })).toThrow(`"${file}" is ${kind}: it must be a regular file.`);
  }
  expect(() => readBounded(dir(), { sizeMaxBytes })).toThrow('cannot be read: it is a folder.');
  expect(() => readBounded(join(dir(), 'none'), { sizeMaxBytes, name: '--file "none"' })).toThrow(
    '--file "none" cannot be read: it does not exist.',
  );
});
