import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Docker from 'dockerode';

/** A server on a socket that imitates Docker. */
export interface FakeDaemon extends AsyncDisposable {
  readonly docker: Docker;
  readonly socket: string;
}

export async function startFakeDaemon(answer: RequestListener, at?: string): Promise<FakeDaemon> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-daemon-'));
  const socket = at ?? join(folder, 'docker.sock');
  mkdirSync(dirname(socket), { recursive: true });
  const server = createServer(answer).listen(socket);
  await once(server, 'listening');
  return {
    docker: new Docker({ socketPath: socket, host: undefined, protocol: 'http' }),
    socket,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
