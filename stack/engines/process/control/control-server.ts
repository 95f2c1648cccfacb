import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { Installation } from '../../../state/installation.ts';
import { lineMaxBytes, type Reply, type Request, request } from './messages.ts';
import { controlSocketOf, withSocketPath } from './socket-path.ts';

export interface ControlServer {
  close(): Promise<void>;
}

/** Answers a request with lines, the last of which is the result. The work may continue after the client has left. */
export type Answer = (asked: Request, reply: (line: Reply) => void) => Promise<void>;

/** Commands come one at a time, and a few clients may ask for the status meanwhile. */
const clientsMax = 16;
const requestMaxBytes = 64 * 1024;
/** A client sends its request at once. */
const requestTimeoutMs = 2000;

/** Listens in state/, which other users cannot enter. The holder of the platform's lock may replace a socket that was left behind. */
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
      // A client that does not read loses lines.
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
