import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { readAnswer } from './read-answer.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const limit = { host: 'stranger.example', maxBytes: 10 };

test('an answer up to the limit is read whole', async () => {
  expect(String(await readAnswer(Readable.from([Buffer.from('12345'), Buffer.from('67890')]), limit))).toBe(
    '1234567890',
  );
  expect((await readAnswer(Readable.from([]), limit)).length).toBe(0);
});

test.each(['by http', 'by fetch'])(
  'one that never ends is left at the limit, and its connection is closed: %s',
  async (way) => {
    const closed = Promise.withResolvers<void>();
    const server = createServer((_request, response) => {
      const writing = setInterval(() => response.write('x'.repeat(1000)), 1);
      response.once('close', () => {
        clearInterval(writing);
        closed.resolve();
      });
    }).listen(0, '127.0.0.1');
    stops.push(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const answer =
      way === 'by http'
        ? ((await once(get(url), 'response')) as [IncomingMessage])[0]
        : ((await fetch(url)).body ?? []);
    await expect(readAnswer(answer as AsyncIterable<Uint8Array>, limit)).rejects.toMatchObject({
      code: 'too_large',
      message: 'The answer of stranger.example is larger than 10 bytes.',
    });
    await closed.promise;
  },
);
