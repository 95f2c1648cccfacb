import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { runAttacker } from './attacker.ts';
import { WireClient, type WireLogin } from './wire-client.ts';

export interface Flood {
  readonly port: number;
  readonly login: WireLogin;
  /** One message as bytes on the wire, in base64. */
  readonly message: string;
  readonly count: number;
}

const giveUpMs = 20_000;

/**
 * Writes one message until its number is reached or the server closes the connection. Returns the number of messages
 * written.
 */
export function flood(options: Flood): Promise<number> {
  return runAttacker(import.meta.filename, options);
}

if (import.meta.main) process.stdout.write(JSON.stringify(await write((await json(process.stdin)) as Flood)));

async function write({ port, login, message, count }: Flood): Promise<number> {
  const piece = Buffer.from(message, 'base64');
  const perChunk = Math.max(1, Math.floor(65_536 / piece.length));
  const chunk = Buffer.concat(Array.from({ length: perChunk }, () => piece));
  const client = await WireClient.connect(port, login).catch(() => null);
  if (client === null) return 0;
  const { socket } = client;
  const began = performance.now();
  let sent = 0;
  while (sent < count && !client.closed && performance.now() - began < giveUpMs) {
    // The server may close the connection meanwhile: that is an outcome, not an error.
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    sent += perChunk;
  }
  await client.flush().catch(() => {});
  client.close();
  return sent;
}
