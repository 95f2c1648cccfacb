import { createServer } from 'node:net';

export type Ports = Readonly<Record<'backend' | 'remote-mcp' | 'runtime' | 'frontend', number>>;

export type BusPorts = Readonly<Record<'port' | 'httpPort', number>>;

export async function freeBusPorts(): Promise<BusPorts> {
  const held = await Promise.all([holdPort(), holdPort()]);
  const [port = 0, httpPort = 0] = await Promise.all(held.map((release) => release()));
  return { port, httpPort };
}

/** Ports that nobody listens on, held at the same time so that they are four. */
export async function freePorts(): Promise<Ports> {
  const held = await Promise.all([holdPort(), holdPort(), holdPort(), holdPort()]);
  const [backend = 0, remoteMcp = 0, runtime = 0, frontend = 0] = await Promise.all(held.map((release) => release()));
  return { backend, 'remote-mcp': remoteMcp, runtime, frontend };
}

/** Returns what lets go of the port, and says which it was. */
function holdPort(): Promise<() => Promise<number>> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      resolve(() => new Promise((released) => server.close(() => released(port))));
    });
  });
}
