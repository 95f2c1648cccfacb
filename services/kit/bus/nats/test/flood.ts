import { randomBytes } from 'node:crypto';
import { newProcessId } from '../../../../contracts/ids.ts';
import { Secret } from '../../../../contracts/secret.ts';
import { connectRaw } from './raw-client.ts';

/** The flooding sender, as JSON in the first argument of this program, which ends by itself. */
export interface Flooder {
  readonly url: string;
  readonly key: string;
}

/** The messages to send. The program receives them once it is connected and its process has an id. */
export interface Flood {
  readonly subject: string;
  readonly count: number;
  readonly kind: string | null;
  readonly payloadBytes: number;
  /** In `subject` and `reply`, `#` stands for an id that no other frame has. */
  readonly reply?: string;
  readonly hasId: boolean;
  readonly headerBytes: number;
}

const framesPerFlush = 500;
const endedWithinMs = 8000;

const flooder: Flooder = JSON.parse(process.argv[2] ?? '');
const client = await connectRaw(flooder.url, { kind: 'runtime', key: new Secret(flooder.key) }, newProcessId());
const told = new Promise<Flood>((resolve) => process.once('message', (message) => resolve(message as Flood)));
process.send?.('connected');
const flood = await told;
let isEnded = false;
void client.ended.then(() => {
  isEnded = true;
});
const payload = Buffer.alloc(flood.payloadBytes, 'x');
for (let sent = 0; sent < flood.count && !isEnded; sent += framesPerFlush) {
  for (let i = 0; i < Math.min(framesPerFlush, flood.count - sent); i++) say();
  await Promise.race([client.reached().catch(() => undefined), client.ended]);
}
process.send?.('sent');
await Promise.race([client.ended, new Promise((resolve) => setTimeout(resolve, endedWithinMs))]);
process.send?.(isEnded ? 'ended' : 'stayed', () => process.exit(0));

function say(): void {
  const id = randomBytes(9).toString('base64url');
  const named = (subject: string) => subject.replace('#', id);
  client.say(named(flood.subject), {
    ...{ kind: flood.kind, payload },
    ...(flood.hasId ? { id } : {}),
    ...(flood.reply === undefined ? {} : { reply: named(flood.reply) }),
    ...(flood.headerBytes === 0 ? {} : { headers: { a: 'x'.repeat(flood.headerBytes) } }),
  });
}
