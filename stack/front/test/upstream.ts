import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

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
  }
}
