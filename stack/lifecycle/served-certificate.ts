import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { hostOf } from '../../services/contracts/host-of.ts';
import { portOf } from '../machine/port-of.ts';
import type { Plan } from '../plan/plan.ts';

export interface CertificateAddresses {
  /** The proxy's address on this machine. */
  readonly url: string;
  /** An address whose host the certificate must cover. */
  readonly publicUrl: string;
}

const shakeTimeoutMs = 2000;

/**
 * Why https clients are refused, or null when they are not: an authority may be slow or refuse. Trust in the
 * certificate is not checked.
 */
export function missingCertificate({ url, publicUrl }: CertificateAddresses): Promise<string | null> {
  const host = hostOf(publicUrl);
  return new Promise((resolve) => {
    const options = { host: hostOf(url), port: portOf(url), servername: host, rejectUnauthorized: false };
    const socket = connect({ ...options, timeout: shakeTimeoutMs });
    const tell = (answer: string | null) => {
      socket.destroy();
      resolve(answer);
    };
    const why = `There is no certificate for ${host} yet. Caddy keeps requesting one. Show the authority's answers: svc logs caddy`;
    socket.once('secureConnect', () => tell(null));
    socket.once('timeout', () => tell(why));
    socket.once('error', () => tell(why));
  });
}

/** Several times the usual delay of an authority. */
const patienceMs = 20_000;
const lookIntervalMs = 100;

/** Waits for the first certificate of an authority, and reports its absence after a while: the platform runs anyway. */
export async function awaitCertificate(
  { definition, parts, addresses }: Plan,
  { signal, onNotice }: { signal: AbortSignal; onNotice: (message: string) => void },
): Promise<void> {
  const front = parts.find(({ service }) => service === 'caddy');
  if (front === undefined || definition.public.tls !== 'acme') return;
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const why = await missingCertificate({ url: front.url, publicUrl: addresses.public.mcp });
    if (why === null) return;
    if (performance.now() >= deadline) return onNotice(why);
    await pause(lookIntervalMs, undefined, { signal });
  }
}
