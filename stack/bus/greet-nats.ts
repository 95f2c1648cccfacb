import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as secure } from 'node:tls';
import { fromSeed } from '@nats-io/nkeys';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { hostOf } from '../../services/contracts/host-of.ts';
import { inWords } from '../../services/contracts/system-words.ts';
import type { ReadyCheck } from '../parts/part.ts';
import { readSecret } from '../secrets/secrets.ts';

/** The INFO that a NATS server sends before the client authenticates: the fields that are read here. */
const info = z.object({
  server_id: z.string().default(''),
  version: z.string(),
  jetstream: z.boolean().default(false),
  nonce: z.string().optional(),
  tls_required: z.boolean().default(false),
});

/** Before NATS refuses an unknown user, it asks a backend and waits two seconds for the answer. */
const answerTimeoutMs = 5000;
const lineMaxBytes = 64 * 1024;

/** Connects as a client does (INFO, CONNECT, PING): which version, and does the server know the user? */
export async function greetNats(user: Omit<Entry, 'timeoutMs'>) {
  return await spoken(user.server, async (open) => {
    const { said, isKnown } = await enter({ ...user, timeoutMs: answerTimeoutMs }, open);
    return { ...said, isKnown };
  });
}

/** The health of a node, as on the page /healthz of its monitoring. */
const health = z.object({ data: z.object({ status: z.string(), error: z.string().default('It does not say why.') }) });

/** A node that does not answer within this time counts as not ready. */
const healthTimeoutMs = 2000;

/** Asks a node at its client port, as the user of the system account, what it lacks; null: it is ready. */
export async function missingOfNats({ url, seedFile }: Extract<ReadyCheck, { kind: 'nats' }>): Promise<string | null> {
  // The certificate is for another name than this machine's own address, and the seed signs a nonce and is never sent.
  const trust = { rejectUnauthorized: false };
  const user = { server: url, seed: readSecret(seedFile), trust, timeoutMs: healthTimeoutMs };
  return await spoken(url, async (open) => {
    const { said, socket, isKnown } = await enter(user, open);
    if (!isKnown) throw new Error('it does not know the user of our system account');
    const subject = `$SYS.REQ.SERVER.${said.server_id}.HEALTHZ`;
    socket.write(`SUB health 1\r\nPUB ${subject} health 2\r\n{}\r\n`);
    const { status, error } = health.parse(JSON.parse(await nextLine(socket, healthTimeoutMs, '{', '-ERR'))).data;
    return status === 'ok' ? null : error;
  });
}

async function spoken<Result>(server: string, speak: (open: Socket[]) => Promise<Result>): Promise<Result> {
  const open: Socket[] = [];
  try {
    return await speak(open);
  } catch (error) {
    throw new SvcError('unavailable', `${server} does not answer as a NATS server: ${whyNot(error)}.`, {
      hint: 'Is it running, and is bus.servers in svc.yaml right?',
      cause: error,
    });
  } finally {
    // TLS first: Node 24 crashes when the socket below is destroyed during the end of the handshake.
    for (const socket of open.reverse()) socket.destroy();
  }
}

interface Entry {
  /** With its scheme and port. */
  readonly server: string;
  readonly seed: string;
  readonly trust: ConnectionOptions;
  readonly timeoutMs: number;
}

/** Authenticates as the user, and returns whether the server lets it in. */
async function enter({ server, seed, trust, timeoutMs }: Entry, open: Socket[]) {
  const { port, protocol } = new URL(server);
  const host = hostOf(server);
  const plain = await opened(connect({ host, port: Number(port), timeout: timeoutMs }), open, 'connect');
  const line = await nextLine(plain, timeoutMs, 'INFO ');
  const said = info.parse(JSON.parse(line.slice('INFO '.length)));
  const wantsTls = protocol === 'tls:' || said.tls_required;
  const socket = wantsTls
    ? await opened(secure({ socket: plain, ...nameOf(host), ...trust }), open, 'secureConnect')
    : plain;
  socket.write(`CONNECT ${JSON.stringify(shownBy(seed, said.nonce))}\r\nPING\r\n`);
  const answer = await nextLine(socket, timeoutMs, 'PONG', '-ERR');
  return { said, socket, isKnown: answer.startsWith('PONG') };
}

/** TLS takes no IP address as a name (RFC 6066 §3). */
function nameOf(host: string) {
  return isIP(host) === 0 ? { servername: host } : {};
}

function shownBy(seed: string, nonce = '') {
  const pair = fromSeed(Buffer.from(seed));
  const sig = Buffer.from(pair.sign(Buffer.from(nonce))).toString('base64url');
  return { verbose: false, pedantic: false, lang: 'svc', version: '0', protocol: 1, nkey: pair.getPublicKey(), sig };
}

function opened<Kind extends Socket>(socket: Kind, open: Socket[], event: string): Promise<Kind> {
  open.push(socket);
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('timeout', () => reject(new Error(`no answer within ${(socket.timeout ?? 0) / 1000} s`)));
  });
}

/** The next line that begins with one of these words; others are passed over. */
function nextLine(socket: Socket, timeoutMs: number, ...words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const fail = (why: string) => () => reject(new Error(why));
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.length > lineMaxBytes) return fail('it says something else')();
      const line = text
        .split('\r\n')
        .slice(0, -1)
        .find((one) => words.some((word) => one.startsWith(word)));
      if (line === undefined) return;
      socket.off('data', read);
      resolve(line);
    };
    socket.on('data', read);
    socket.setTimeout(timeoutMs, fail(`no answer within ${timeoutMs / 1000} s`));
    socket.once('error', reject);
    socket.once('close', fail('it closed the connection'));
  });
}

function whyNot(error: unknown): string {
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'it says something else';
  return inWords(error);
}
