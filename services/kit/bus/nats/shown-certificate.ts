import { connect, isIP, type Socket } from 'node:net';
import { connect as secure } from 'node:tls';
import type { Validity } from '../../../contracts/clocks.ts';
import { hostOf } from '../../../contracts/host-of.ts';

/** A server that was reached a moment ago answers within this time. */
const answerTimeoutMs = 3000;
const greetingMaxBytes = 64 * 1024;
const portUsual = 4222;

/**
 * Dates of the certificate that a NATS server shows; null if it shows none. Nothing is sent to the server, because it
 * is not trusted.
 */
export async function findValidity(server: string): Promise<Validity | null> {
  const opened: Socket[] = [];
  const silence = Promise.withResolvers<null>();
  const timer = setTimeout(silence.resolve, answerTimeoutMs, null);
  try {
    return await Promise.race([readValidity(server, opened), silence.promise]);
  } catch {
    return null; // The caller knows already that the connection failed, and why.
  } finally {
    clearTimeout(timer);
    // TLS first: Node 24 crashes when the socket below is destroyed during the end of the handshake.
    for (const socket of opened.reverse()) socket.destroy();
  }
}

async function readValidity(server: string, opened: Socket[]): Promise<Validity | null> {
  const host = hostOf(server);
  const port = Number(/:(\d+)\/?$/.exec(server)?.[1] ?? portUsual);
  // TLS takes no IP address as a name (RFC 6066 §3).
  const named = isIP(host) === 0 ? { servername: host } : {};
  const plain = connect({ host, port });
  opened.push(plain);
  await greeting(plain);
  const secured = secure({ socket: plain, ...named, rejectUnauthorized: false });
  opened.push(secured);
  await new Promise((resolve, reject) => secured.once('secureConnect', resolve).once('error', reject));
  const { valid_from, valid_to } = secured.getPeerCertificate();
  const validity = { fromMs: Date.parse(valid_from), toMs: Date.parse(valid_to) };
  return Number.isFinite(validity.fromMs + validity.toMs) ? validity : null;
}

/** NATS sends a line in plain text before TLS begins. */
function greeting(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let sizeBytes = 0;
    const read = (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > greetingMaxBytes) reject(new Error('the greeting is too long'));
      else if (chunk.includes('\n')) {
        socket.off('data', read);
        resolve();
      }
    };
    socket.on('data', read);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}
