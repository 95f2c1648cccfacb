import { EventEmitter, once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { Kind, Parser, type ParserEvent } from '@nats-io/transport-node';

/** The client's fields in the message CONNECT. */
export interface WireLogin {
  readonly user?: string;
  readonly pass?: string;
  readonly name?: string;
}

export interface WireMessage {
  readonly subject: string;
  readonly reply: string;
  /** Header lines as NATS sent them; empty for a message without headers. */
  readonly headers: string;
  readonly payload: Buffer;
}

const deadlineMs = 8000;

/** A NATS client that writes its own bytes: a library would refuse most messages of an attacker. */
export class WireClient {
  readonly messages: WireMessage[] = [];
  /** Every -ERR of the server. */
  readonly errors: string[] = [];
  readonly socket: Socket;
  /** Emits `progress` when bytes were read or the connection was closed. */
  readonly #events = new EventEmitter().setMaxListeners(0);
  #pongs = 0;
  #subscriptions = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    const parser = new Parser({ push: (event) => this.#take(event as ParserEvent) });
    socket.on('data', (bytes) => {
      parser.parse(bytes);
      this.#events.emit('progress');
    });
    socket.on('error', () => {});
    socket.on('close', () => this.#events.emit('progress'));
  }

  /** Throws the server's error if the server refuses the client. `localAddress` is the source address. */
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

  get closed(): boolean {
    return this.socket.destroyed;
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
    await this.#until(() => this.#pongs >= pong, 'PONG');
  }

  /** The first matching message, among those received already and those to come. */
  async heard(isMeant: (message: WireMessage) => boolean): Promise<WireMessage> {
    await this.#until(() => this.messages.some(isMeant), 'the message');
    const found = this.messages.find(isMeant);
    if (found === undefined) throw new Error('the message is gone');
    return found;
  }

  close(): void {
    this.socket.destroy();
  }

  async #until(isTrue: () => boolean, what: string): Promise<void> {
    const signal = AbortSignal.timeout(deadlineMs);
    while (!isTrue()) {
      if (this.closed) throw new Error(this.errors.at(-1) ?? `closed before ${what}`);
      await once(this.#events, 'progress', { signal }).catch(() => {
        throw new Error(`${what} did not come within ${deadlineMs} ms`);
      });
    }
  }

  #take({ kind, msg, data }: ParserEvent): void {
    if (kind === Kind.PING) this.socket.write('PONG\r\n');
    else if (kind === Kind.PONG) this.#pongs++;
    else if (kind === Kind.ERR) this.errors.push(textOf(data));
    else if (msg !== undefined) {
      const headersLength = Math.max(0, msg.hdr);
      this.messages.push({
        subject: textOf(msg.subject),
        reply: textOf(msg.reply),
        headers: textOf(data?.subarray(0, headersLength)),
        payload: Buffer.from(data?.subarray(headersLength) ?? ''),
      });
    }
  }
}

function textOf(bytes: Uint8Array = new Uint8Array()): string {
  return Buffer.from(bytes).toString();
}

export interface PublishOptions {
  readonly reply?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One message as bytes on the wire: PUB, or HPUB with headers. */
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
