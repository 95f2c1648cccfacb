import { connect, type Socket } from 'node:net';
import { connect as secure } from 'node:tls';
import { fromSeed } from '@nats-io/nkeys';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { hostOf } from '../../services/contracts/host-of.ts';
import { inWords } from '../../services/contracts/system-words.ts';

export interface Greeting {
  /** With its scheme and port. */
  readonly server: string;
  /** PEM that vouches for it; null: the authorities that systems know. */
  readonly ca: string | null;
  /** Seed of the user that shows itself. */
  readonly seed: string;
}

/** What a NATS server says of itself before anybody has shown who he is, as far as it matters here. */
const info = z.object({
  version: z.string(),
  jetstream: z.boolean().default(false),
  nonce: z.string().optional(),
  tls_required: z.boolean().default(false),
  tls_available: z.boolean().default(false),
});

export interface Greeted extends Omit<z.infer<typeof info>, 'nonce'> {
  /** Whether it lets this user in. */
  readonly isKnown: boolean;
}

/** A server in the same building answers in a millisecond. */
const answerTimeoutMs = 5000;
const lineMaxBytes = 64 * 1024;

/**
 * Connects to a NATS server as a client does (INFO, CONNECT, PING), to learn what it is and whether it knows a user. Throws `unavailable`
 * where nobody answers, or something else than NATS.
 */
export async function greetNats({ server, ca, seed }: Greeting): Promise<Greeted> {
  const { port, protocol } = new URL(server);
  const host = hostOf(server);
  const open: Socket[] = [];
  try {
    const plain = await opened(connect({ host, port: Number(port), timeout: answerTimeoutMs }), open, 'connect');
    const said = readInfo(await nextLine(plain, 'INFO '));
    const wantsTls = protocol === 'tls:' || said.tls_required;
    const socket = wantsTls
      ? await opened(secure({ socket: plain, servername: host, ...(ca === null ? {} : { ca }) }), open, 'secureConnect')
      : plain;
    socket.write(`CONNECT ${JSON.stringify(shownBy(seed, said.nonce))}\r\nPING\r\n`);
    const answer = await nextLine(socket, 'PONG', '-ERR');
    return { ...said, isKnown: answer.startsWith('PONG') };
  } catch (error) {
    throw new SvcError('unavailable', `${server} does not answer as a NATS server: ${whyNot(error)}.`, {
      hint: 'Is it running, and is bus.servers in svc.yaml right?',
      cause: error,
    });
  } finally {
    for (const socket of open) socket.destroy();
  }
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
    socket.once('timeout', () => reject(new Error(`no answer within ${answerTimeoutMs / 1000} s`)));
  });
}

/** The next line that begins with one of these words; others are passed over. */
function nextLine(socket: Socket, ...words: readonly string[]): Promise<string> {
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
    socket.setTimeout(answerTimeoutMs, fail(`no answer within ${answerTimeoutMs / 1000} s`));
    socket.once('error', reject);
    socket.once('close', fail('it closed the connection'));
  });
}

function readInfo(line: string): z.infer<typeof info> {
  return info.parse(JSON.parse(line.slice('INFO '.length)));
}

function whyNot(error: unknown): string {
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'it says something else';
  return inWords(error);
}
