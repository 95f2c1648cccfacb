import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { makeCertificate } from '../../../../stack/runtime-elsewhere/test/certificate.ts';
import { smtpEngine } from '../smtp-engine.ts';
import { pour } from './provider-receiver.ts';
import { type Received, type Receiver, rightKey, sender } from './receiver.ts';

export interface MailServer extends Receiver {
  readonly port: number;
  readonly host: string;
  /** The certificate, which is its own authority. */
  readonly ca: string;
  /** How each accepted connection was encrypted and authenticated. */
  readonly sessions: readonly { readonly secure: boolean; readonly user: string | undefined }[];
}

export interface MailServerOptions {
  readonly tls?: 'starttls' | 'implicit' | 'none';
  readonly hasLogin?: boolean;
  /** The name in its certificate; default: its address. */
  readonly certificateFor?: string;
}

export const user = 'svc';

/** A mail server that speaks SMTP, with a certificate for 127.0.0.1 of its own. */
export async function startMailServer({
  tls = 'starttls',
  hasLogin = true,
  certificateFor,
}: MailServerOptions = {}): Promise<MailServer> {
  const received: Received[] = [];
  const sessions: MailServer['sessions'][number][] = [];
  const sockets = new Set<Socket>();
  let behaviours: string[] = [];
  let behaviour = 'accept';
  let attempts = 0;
  const { key, cert } = selfSigned(certificateFor);
  const refusal = (code: number, words: string) => Object.assign(new Error(words), { responseCode: code });
  const smtp = new SMTPServer({
    ...{ key, cert, secure: tls === 'implicit', logger: false, closeTimeout: 1, hideENHANCEDSTATUSCODES: false },
    disabledCommands: [...(tls === 'none' ? ['STARTTLS'] : []), ...(hasLogin ? [] : ['AUTH'])],
    allowInsecureAuth: tls === 'none',
    onAuth({ username, password }, _session, done) {
      if (username === user && password === rightKey) return done(null, { user });
      // As a hostile mail server might.
      done(refusal(535, `Wrong password ${password}`));
    },
    onRcptTo(_address, _session, done) {
      if (behaviour === '451' || behaviour === '550') return done(refusal(Number(behaviour), 'Not now'));
      done();
    },
    async onData(stream, session, done) {
      const raw = await text(stream);
      if (behaviour === '452') return done(refusal(452, 'The disk is full'));
      received.push(parseMessage(raw, session.envelope.rcptTo[0]?.address ?? ''));
      sessions.push({ secure: session.secure, user: session.user ? String(session.user) : undefined });
      if (behaviour === 'silent') return;
      if (behaviour === 'disconnect')
        return smtp.connections.forEach((connection) => void connection._socket.destroy());
      setTimeout(done, behaviour === 'slow' ? 150 : 0);
    },
  });
  // The library answers a client that has left.
  smtp.on('error', () => undefined);
  const front = createServer((socket) => {
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    attempts += 1;
    behaviour = behaviours.shift() ?? 'accept';
    if (behaviour === 'gone') return void socket.destroy();
    if (behaviour !== 'mute' && behaviour !== 'huge') return void smtp.server.emit('connection', socket);
    sockets.add(socket);
    if (behaviour === 'huge') pour(socket, Buffer.alloc(64 * 1024, '2'));
    else socket.resume();
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const { port } = front.address() as AddressInfo;
  return {
    ...{ received, sessions, port, host: '127.0.0.1', ca: cert },
    get attempts() {
      return attempts;
    },
    behave: (...next) => {
      behaviours = [...next];
    },
    engine: ({ key: password, deadlineMs, fromName = 'Us' }) =>
      smtpEngine({
        ...{ host: '127.0.0.1', port, tls, ca: cert, from: sender, fromName, deadlineMs },
        login: hasLogin ? { user, password } : undefined,
      }),
    async stop() {
      for (const socket of sockets) socket.destroy();
      // It destroys the upper one of a TLS connection's two sockets. Destroying the lower one would crash Node.
      smtp.close();
      front.close();
      await once(front, 'close');
    },
  };
}

function parseMessage(raw: string, to: string): Received {
  const [head = ''] = raw.split('\r\n\r\n', 1);
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
  return {
    id: /<(.+)@/.exec(headers.get('Message-ID') ?? '')?.[1] ?? '',
    from: headers.get('From') ?? '',
    to,
    subject: headers.get('Subject') ?? '',
    content: `${headers.get('From')}\n${unquoted(raw)}`,
    headers: [...headers.keys()],
  };
}

/** Quoted-printable (RFC 2045 §6.7). */
function unquoted(raw: string): string {
  const bytes = raw
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** A certificate for this name, which is its own authority. */
export function selfSigned(name = 'IP:127.0.0.1'): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mail-'));
  makeCertificate(folder, 'own', name);
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const made = { key: read('own.key'), cert: read('own.pem') };
  rmSync(folder, { recursive: true });
  return made;
}
