import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../find-program.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { freePorts } from '../../test/free-ports.ts';
import { caddyfile, caddyfileValues } from '../caddyfile.ts';

/** `caddy`, without which no front can be tried. */
export const hasCaddy = findProgram('caddy', process.env.PATH) !== null;

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** What a front stands before: an HTTP server that is ready or not, and answers as it was told. */
export class Upstream {
  readonly server: Server;
  readonly port: number;
  isReady = true;
  /** All requests but those for `/ready`. */
  count = 0;

  constructor(port: number, answer: Answer) {
    this.port = port;
    this.server = createServer((request, response) => {
      if (request.url === '/ready') return response.writeHead(this.isReady ? 200 : 503).end('{}');
      this.count++;
      answer(request, response);
      return undefined;
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

/** Whatever ends the test ends the input, and with it Caddy. */
const endWithInput = 'caddy run --config "$1" --adapter caddyfile & caddy=$!; read -r _; kill -9 $caddy; wait $caddy';

/** Caddy, configured as a platform configures it, before two of them. */
export async function openFront(answer: (name: 'one' | 'other') => Answer, on?: number) {
  const home = mkdtempSync(join(tmpdir(), 'svc-front-'));
  const [free = 0, first = 0, second = 0] = await freePorts(3);
  const port = on ?? free;
  const one = new Upstream(first, answer('one'));
  const other = new Upstream(second, answer('other'));
  await Promise.all([one.open(), other.open()]);
  const file = join(home, 'Caddyfile');
  const remoteMcps = [`127.0.0.1:${first}`, `127.0.0.1:${second}`];
  const upstreams = { 'remote-mcp': remoteMcps, backend: [], frontend: [] };
  writeFileSync(file, caddyfile(caddyfileValues({ bind: '127.0.0.1', httpPort: port, upstreams, oneHost: null })));
  const env = { PATH: process.env.PATH, HOME: home };
  const child = spawn('/bin/sh', ['-c', endWithInput, 'sh', file], { env, stdio: ['pipe', 'ignore', 'ignore'] });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(`${url}/ready`, { timeoutMs: 20_000, signal: new AbortController().signal });
  return {
    url,
    port,
    one,
    other,
    async [Symbol.asyncDispose]() {
      await ended(child);
      await Promise.all([one.close(), other.close()]);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.stdin?.end();
  });
}
