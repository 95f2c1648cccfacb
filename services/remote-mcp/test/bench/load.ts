import { connect, type Socket } from 'node:net';

/** One keep-alive connection. It sends each request after the previous answer, and records the latency of each. */
export class LoadSocket {
  readonly #socket: Socket;
  readonly #request: Buffer;
  #answered: (() => void) | null = null;
  #head = '';
  #missing = 0;

  private constructor(socket: Socket, request: Buffer) {
    this.#socket = socket;
    this.#request = request;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
  }

  static open(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<LoadSocket> {
    const lines = Object.entries({ ...headers, host: url.host, 'content-length': String(Buffer.byteLength(body)) });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const request = Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${head}\r\n${body}`);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname, () => resolve(new LoadSocket(socket, request)));
      socket.on('error', reject);
    });
  }

  async run(times: number[], count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const startedAt = performance.now();
      await new Promise<void>((resolve) => {
        this.#answered = resolve;
        this.#socket.write(this.#request);
      });
      times.push(performance.now() - startedAt);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#missing === 0) {
      this.#head += chunk.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (!this.#head.startsWith('HTTP/1.1 200')) throw new Error(this.#head);
      const length = /content-length: (\d+)/i.exec(this.#head)?.[1];
      this.#missing = end + 4 + Number(length) - this.#head.length;
      this.#head = '';
    } else this.#missing -= chunk.length;
    if (this.#missing === 0) this.#answered?.();
  }
}

export interface Figures {
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

export async function measure(sockets: readonly LoadSocket[], calls: number): Promise<Figures> {
  const times: number[] = [];
  const startedAt = performance.now();
  await Promise.all(sockets.map((socket) => socket.run(times, Math.floor(calls / sockets.length))));
  const seconds = (performance.now() - startedAt) / 1000;
  const sorted = times.sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { perSecond: Math.round(sorted.length / seconds), medianMs: at(0.5), p99Ms: at(0.99) };
}
