import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listen } from '../../kit/http/listen.ts';
import { agentMemory } from './agent-memory.ts';
import { Exchange } from './exchange.ts';
import { UnreadAnswers } from './unread-answers.ts';

let server: Server;
let port: number;
beforeEach(async () => {
  server = createServer();
  port = Number(new URL(await listen(server, { host: '127.0.0.1', port: 0 })).port);
});
afterEach(() => void server.close());

/** Answers each request with the next of the bodies. */
function answerWith(...bodies: readonly (string | Buffer)[]): void {
  const unread = new UnreadAnswers({ memory: agentMemory(), refusals: { write: () => undefined } });
  const left = [...bodies];
  server.on('request', (request, response) =>
    new Exchange(request, response, { id: 'r', cors: [], unread, challenge: () => 'Bearer' }).json(
      200,
      left.shift() ?? '',
    ),
  );
}

const smallMaxBytes = 8 * 1024;
const unusual = 'ä € 😀 \u0000\u0080 \ud800';

test.each([
  ['as text', unusual],
  ['as bytes', Buffer.from(unusual)],
  ['of the largest small size', Buffer.alloc(smallMaxBytes, 0xe9)],
  ['above it', Buffer.alloc(smallMaxBytes + 1, 0xe9)],
  ['without a byte', ''],
])('a body %s arrives byte for byte', async (_, body) => {
  answerWith(body);
  const answer = await fetch(`http://127.0.0.1:${port}`);
  const sent = Buffer.from(body);
  expect(Buffer.from(await answer.arrayBuffer()).equals(sent)).toBe(true);
  expect(answer.headers.get('content-length')).toBe(String(sent.length));
});

test('requests sent together are answered in their order', async () => {
  answerWith('first', Buffer.alloc(smallMaxBytes + 1, 'x'), 'third');
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  const request = 'GET / HTTP/1.1\r\nhost: x\r\n';
  client.end(`${request}\r\n${request}\r\n${request}connection: close\r\n\r\n`);
  expect(await text(client)).toMatch(/first(.|\r\n)*x{8193}(.|\r\n)*third$/);
});
