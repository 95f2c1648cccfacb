import { EventEmitter, once } from 'node:events';
import { createConnection, type Socket } from 'node:net';

/** How the client shows itself in CONNECT. */
export interface WireLogin {
  readonly user?: string;
  readonly pass?: string;
  readonly name?: string;
}

export interface WireMessage {
  readonly subject: string;
  readonly reply: string;
  /** Header lines as NATS sent them; empty where the message has none. */
  readonly headers: string;
  readonly payload: Buffer;
}

const deadlineMs = 8000;

/** A client of NATS that writes its own bytes: a library would refuse to send most of what an attacker sends. */
export class WireClient {
  readonly messages: WireMessage[] = [];
  /** Each -ERR of the server. */
  readonly errors: string[] = [];
  readonly socket: Socket;
  /** Says `progress` when bytes were read, or the connection was closed. */
  readonly #events = new EventEmitter().setMaxListeners(0);
  #buffer = Buffer.alloc(0);
  #pongs = 0;
  #subscriptions = 0;
  readonly #ending = new AbortController();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => {
      this.#buffer = Buffer.concat([this.#buffer, bytes]);
      while (this.#readOne());
      this.#events.emit('progress');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#ending.abort();
      this.#events.emit('progress');
    });
  }

  /** Throws what the server says where it lets the client in not. `localAddress`: whence it comes. */
  static async connect(port: number, login: WireLogin = {}, localAddress = '127.0.0.1'): Promise<WireClient> {
    const socket = createConnection({ port, host: '127.0.0.1', localAddress });
    const client = new WireClient(socket);
    await once(socket, 'connect');
    const options = { verbose: false, pedantic: false, headers: true, no_responders: true, protocol: 1, lang: 'raw' };
    socket.write(`CONNECT ${JSON.stringify({ ...options, version: '1', ...login })}\r\n`);
    try {
      await client.flush();
    } catch (error) {
      client.close();
      throw error;
    }
    return client;
  }

  /** Aborts when the connection is closed. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  get closed(): boolean {
    return this.ended.aborted;
  }

  subscribe(subject: string): void {
    this.socket.write(`SUB ${subject} ${++this.#subscriptions}\r\n`);
  }

  publish(subject: string, payload: Uint8Array | string = '', options: PublishOptions = {}): void {
    this.socket.write(publication(subject, payload, options));
  }

  /** Resolves when the server has read all that was written. */
  async flush(): Promise<void> {
    const pong = this.#pongs + 1;
    this.socket.write('PING\r\n');
    await this.until(() => this.#pongs >= pong, 'PONG');
  }

  /** The first message from now on, or of those heard already, that is meant. */
  async heard(isMeant: (message: WireMessage) => boolean): Promise<WireMessage> {
    await this.until(() => this.messages.some(isMeant), 'the message');
    const found = this.messages.find(isMeant);
    if (found === undefined) throw new Error('the message is gone');
    return found;
  }

  close(): void {
    this.socket.destroy();
  }

  async until(isTrue: () => boolean, what: string): Promise<void> {
    const signal = AbortSignal.timeout(deadlineMs);
    while (!isTrue()) {
      if (this.closed) throw new Error(this.errors.at(-1) ?? `closed before ${what}`);
      await once(this.#events, 'progress', { signal }).catch(() => {
        throw new Error(`${what} did not come within ${deadlineMs} ms`);
      });
    }
  }

  #readOne(): boolean {
    const end = this.#buffer.indexOf('\r\n');
    if (end === -1) return false;
    const [verb = '', ...words] = this.#buffer.subarray(0, end).toString('latin1').split(' ');
    if (verb === 'MSG' || verb === 'HMSG') return this.#readMessage(verb, words, end + 2);
    this.#buffer = this.#buffer.subarray(end + 2);
    if (verb === 'PING') this.socket.write('PONG\r\n');
    else if (verb === 'PONG') this.#pongs++;
    else if (verb === '-ERR') this.errors.push(words.join(' '));
    return true;
  }

  #readMessage(verb: string, words: readonly string[], at: number): boolean {
    const total = Number(words.at(-1));
    if (this.#buffer.length < at + total + 2) return false;
    const headersLength = verb === 'HMSG' ? Number(words.at(-2)) : 0;
    const [subject = '', , third] = words;
    this.messages.push({
      subject,
      reply: words.length === (verb === 'HMSG' ? 5 : 4) ? (third ?? '') : '',
      headers: this.#buffer.subarray(at, at + headersLength).toString(),
      payload: Buffer.from(this.#buffer.subarray(at + headersLength, at + total)),
    });
    this.#buffer = this.#buffer.subarray(at + total + 2);
    return true;
  }
}

export interface PublishOptions {
  readonly reply?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One message as bytes on the wire: PUB, or HPUB where it has headers. */
export function publication(
  subject: string,
  payload: Uint8Array | string,
  { reply = '', headers }: PublishOptions = {},
): Buffer {
  const to = reply === '' ? subject : `${subject} ${reply}`;
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = headers === undefined ? '' : `NATS/1.0\r\n${lines.join('')}\r\n`;
  const [body, headBytes] = [Buffer.from(payload), Buffer.byteLength(head)];
  const first = headers === undefined ? `PUB ${to}` : `HPUB ${to} ${headBytes}`;
  return Buffer.concat([Buffer.from(`${first} ${headBytes + body.length}\r\n${head}`), body, Buffer.from('\r\n')]);
}
