import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { runAttacker } from './attacker.ts';
import { WireClient, type WireLogin } from './wire-client.ts';

export interface Flood {
  readonly port: number;
  readonly login: WireLogin;
  /** One message as bytes on the wire, in base64. */
  readonly message: string;
  readonly count: number;
}

const flooded = z.object({ sent: z.number(), tookMs: z.number(), closed: z.boolean(), errors: z.array(z.string()) });
export type Flooded = z.infer<typeof flooded>;

const giveUpMs = 20_000;

/** Writes one message again and again until its number is reached or the server closes the connection. */
export function flood(options: Flood): Promise<Flooded> {
  return runAttacker(import.meta.filename, options, flooded);
}

if (import.meta.main) process.stdout.write(JSON.stringify(await write((await json(process.stdin)) as Flood)));

async function write({ port, login, message, count }: Flood): Promise<Flooded> {
  const piece = Buffer.from(message, 'base64');
  const perChunk = Math.max(1, Math.floor(65_536 / piece.length));
  const chunk = Buffer.concat(Array.from({ length: perChunk }, () => piece));
  const client = await WireClient.connect(port, login).catch((refusal: Error) => refusal);
  if (client instanceof Error) return { sent: 0, tookMs: 0, closed: true, errors: [client.message] };
  const began = performance.now();
  let sent = 0;
  while (sent < count && !client.closed && performance.now() - began < giveUpMs) {
    // The server may close the connection meanwhile, which is an outcome.
    if (!client.socket.write(chunk)) await once(client.socket, 'drain', { signal: client.ended }).catch(() => {});
    sent += perChunk;
  }
  await client.flush().catch(() => {});
  client.close();
  const tookMs = Math.round(performance.now() - began);
  return { sent, tookMs, closed: client.closed, errors: client.errors.slice(0, 3) };
}
