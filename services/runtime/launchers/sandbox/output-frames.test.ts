import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { splitOutput } from './output-frames.ts';

function frame(stream: 1 | 2, said: string): Buffer {
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(Buffer.byteLength(said), 4);
  return Buffer.concat([header, Buffer.from(said)]);
}

test.each([1, 3, 7, 8, 9, 1000])('output and errors are separated, in chunks of %i bytes', async (size) => {
  const source = new PassThrough();
  const { stdout, stderr } = splitOutput(source);
  const all = Buffer.concat([
    frame(1, 'one\n'),
    frame(2, 'a warning: é'),
    frame(1, ''),
    frame(1, 'two\n'),
    frame(2, '!'),
  ]);
  for (let at = 0; at < all.length; at += size) source.write(all.subarray(at, at + size));
  source.end();
  expect(await Promise.all([text(stdout), text(stderr)])).toEqual(['one\ntwo\n', 'a warning: é!']);
});

test('unread output is held back', async () => {
  const source = new PassThrough();
  const { stdout, stderr } = splitOutput(source);
  stderr.resume();
  let sent = 0;
  while (source.write(frame(1, 'x'.repeat(10_000))) && sent < 1000) {
    sent++;
    await new Promise(setImmediate);
  }
  expect(sent).toBeLessThan(20);
  expect(stdout.readableLength).toBeLessThan(100_000);
  stdout.resume();
  await new Promise((resolve) => source.once('drain', resolve));
});

test('the end of the container ends both outputs, in the middle of a frame too', async () => {
  const source = new PassThrough();
  const { stdout, stderr } = splitOutput(source);
  source.write(frame(1, 'half').subarray(0, 10));
  source.destroy();
  expect(await Promise.all([text(stdout), text(stderr)])).toEqual(['ha', '']);
});
