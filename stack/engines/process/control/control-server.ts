import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { Installation } from '../../../state/installation.ts';
import { lineMaxBytes, type Reply, type Request, request } from './messages.ts';
import { controlSocketOf, withSocketPath } from './socket-path.ts';

export interface ControlServer {
  close(): Promise<void>;
}

/** Answers a request with lines; the last one is the result. Ends early where nobody listens any more, or decides to go on. */
export type Answer = (asked: Request, reply: (line: Reply) => void) => Promise<void>;

/** Commands come one at a time; a few people may look at the status meanwhile. */
const clientsMax = 16;
const requestMaxBytes = 64 * 1024;
/** Whoever connects knows what to say. */
const requestTimeoutMs = 2000;

/** Listens in state/, where only this user comes. Whoever holds the lock of the platform may take the place of a socket that was left. */
export async function openControl(installation: Installation, answer: Answer): Promise<ControlServer> {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('error', () => client.destroy());
    serveClient(client, answer);
  });
  server.maxConnections = clientsMax;
  const path = controlSocketOf(installation);
  rmSync(path, { force: true });
  await withSocketPath(installation, (short) => {
    return new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(short, resolve);
    });
  });
  chmodSync(path, 0o600);
  return {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const client of clients) client.destroy();
      await closed;
      rmSync(path, { force: true });
    },
  };
}

function serveClient(client: Socket, answer: Answer): void {
  let text = '';
  const late = setTimeout(() => client.destroy(), requestTimeoutMs);
  client.on('close', () => clearTimeout(late));
  client.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end === -1 && text.length <= requestMaxBytes) return;
    client.removeAllListeners('data');
    clearTimeout(late);
    const asked = parseRequest(text.slice(0, Math.max(end, 0)));
    if (asked === null) {
      client.destroy();
      return;
    }
    const reply = (line: Reply) => {
      // Somebody who does not read is not waited for.
      if (client.writableLength < lineMaxBytes) client.write(`${JSON.stringify(line)}\n`);
    };
    answer(asked, reply).then(
      () => client.end(),
      () => client.destroy(),
    );
  });
}

function parseRequest(line: string): Request | null {
  try {
    return request.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
