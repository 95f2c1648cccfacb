import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable, type Writable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { providerEngine } from '../provider-engine.ts';
import { type Received, type Receiver, rightKey, sender } from './receiver.ts';

const posted = z.strictObject({
  ...{ from: z.string(), fromName: z.string().optional(), to: z.string(), subject: z.string() },
  ...{ text: z.string(), html: z.string() },
});

/** The HTTP API of a mail provider. */
export async function startProvider(name: 'provider_a' | 'provider_b'): Promise<Receiver & { readonly url: string }> {
  const received: Received[] = [];
  let behaviours: string[] = [];
  let attempts = 0;

  async function answer(request: IncomingMessage, response: ServerResponse) {
    attempts += 1;
    const behaviour = behaviours.shift() ?? 'accept';
    const mail = posted.parse(await json(request));
    const accept = () => {
      const id = String(request.headers['idempotency-key']);
      const { from, to, subject } = mail;
      received.push({ id, from, to, subject, content: JSON.stringify(mail), headers: [] });
    };
    if (request.headers.authorization !== `Bearer ${rightKey}`) {
      // As some providers do.
      return response.writeHead(401).end(`Unknown key ${request.headers.authorization}`);
    }
    switch (behaviour) {
      case 'accept':
        accept();
        return response.writeHead(202).end('{"ok":true}');
      case 'slow':
        accept();
        return setTimeout(() => response.writeHead(200).end(), 150);
      case 'huge':
        accept();
        response.writeHead(200);
        return pour(response);
      case 'huge headers':
        accept();
        return response.writeHead(200, { 'x-large': 'x'.repeat(64 * 1024) }).end();
      case 'silent':
        return accept();
      case 'disconnect':
        accept();
        return request.socket.destroy();
      case 'redirect':
        return response.writeHead(307, { location: '/other' }).end();
      default:
        return response.writeHead(Number(behaviour)).end(`${behaviour} ${JSON.stringify(mail)}`);
    }
  }

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/send`;
  return {
    ...{ received, url },
    get attempts() {
      return attempts;
    },
    behave: (...next) => {
      behaviours = [...next];
    },
    engine: ({ key, deadlineMs, fromName }) =>
      providerEngine({
        ...{ name, url, key, from: sender, deadlineMs },
        fromName: name === 'provider_a' ? (fromName ?? 'Us') : undefined,
      }),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sends until the other side has closed the connection. */
export function pour(into: Writable, chunk = Buffer.alloc(64 * 1024, 'x')): void {
  const endless = Readable.from(
    (function* () {
      for (;;) yield chunk;
    })(),
  );
  pipeline(endless, into, () => undefined);
}
