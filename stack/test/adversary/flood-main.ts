import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import type { Flood, Flooded } from './flood.ts';
import { WireClient } from './wire-client.ts';

/** Writes one message again and again until its number is reached or the server closes the connection; tells what came of it. */
const { port, login, message, count } = (await json(process.stdin)) as Flood;
const piece = Buffer.from(message, 'base64');
const perChunk = Math.max(1, Math.floor(65_536 / piece.length));
const chunk = Buffer.concat(Array.from({ length: perChunk }, () => piece));
const giveUpMs = 20_000;

const client = await WireClient.connect(port, login).catch((refusal: Error) => refusal);
process.stdout.write(JSON.stringify(client instanceof Error ? refused(client) : await flood(client)));

function refused({ message }: Error): Flooded {
  return { sent: 0, tookMs: 0, closed: true, errors: [message] };
}

async function flood(client: WireClient): Promise<Flooded> {
  const began = performance.now();
  let sent = 0;
  while (sent < count && !client.closed && performance.now() - began < giveUpMs) {
    // The server may close the connection meanwhile, which is an outcome.
    if (!client.write(chunk)) await once(client.socket, 'drain', { signal: client.ended }).catch(() => {});
    sent += perChunk;
  }
  await client.flush().catch(() => {});
  client.close();
  const tookMs = Math.round(performance.now() - began);
  return { sent, tookMs, closed: client.closed, errors: client.errors.slice(0, 3) };
}
