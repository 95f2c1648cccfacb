import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** The wire between the platform and its bus, which a test controls. */
export class Wire implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: number;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #state: 'open' | 'cut' | 'silent' = 'open';
  #delayMs = 0;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (socket) => this.#accept(socket));
  }

  static async start(target: number): Promise<Wire> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Wire(server, target);
  }

  get port(): number {
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }

  /** Ends every connection, and lets no new one through. */
  cut(): void {
    this.#state = 'cut';
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  /** Keeps connections open and lets no data through, like a pulled cable. */
  silence(): void {
    this.#state = 'silent';
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** Delays all data by this time, in each direction. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Silent connections stay silent and new ones work, like a router that has forgotten the old ones. */
  reroute(): void {
    this.#state = 'open';
  }

  heal(): void {
    this.#state = 'open';
    this.#delayMs = 0;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(near: Socket): void {
    if (this.#state === 'cut') {
      near.destroy();
      return;
    }
    const far = connect({ host: '127.0.0.1', port: this.#target });
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    this.#pass(near, far);
    this.#pass(far, near);
    if (this.#state === 'silent') for (const socket of pair) socket.pause();
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
  }

  #pass(from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      if (this.#delayMs === 0) to.write(chunk);
      else setTimeout(() => to.write(chunk), this.#delayMs);
    });
  }
}
