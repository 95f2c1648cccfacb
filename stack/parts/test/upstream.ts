import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { until } from '../../test/until.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server behind the proxy: ready or not, with given answers. */
export class Upstream {
  readonly server: Server;
  readonly port: number;
  isReady = true;
  /** All requests but those for `/ready`. */
  count = 0;

  constructor(port: number, answer: Answer) {
    this.port = port;
    this.server = createServer((request, response) => {
      if (/^\/ready(\?|$)/.test(request.url ?? '')) return response.writeHead(this.isReady ? 200 : 503).end('{}');
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
    // A request on a connection whose end was not noticed yet gets no answer.
    await until(() => !isHeldOpen(this.port));
  }
}

/** Whether a client of the port has not noticed yet that the other side is gone (proc(5): the state CLOSE_WAIT). */
function isHeldOpen(port: number): boolean {
  if (process.platform !== 'linux') return false;
  const there = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .some((line) => {
      const [, , remote, state] = line.trim().split(/\s+/);
      return state === '08' && remote?.endsWith(there);
    });
}
