import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { hostOf } from '../../services/contracts/host-of.ts';
import { portOf } from '../machine/port-of.ts';
import type { Plan } from '../plan/plan.ts';

export interface Served {
  /** Where the front is reached from this machine. */
  readonly url: string;
  /** An address whose host the certificate has to be for. */
  readonly publicUrl: string;
}

const shakeTimeoutMs = 2000;

/**
 * Why whoever comes over https is turned away, or null where nobody is: an authority may take its time, or say no. Whether others trust the
 * certificate is not asked.
 */
export function missingCertificate({ url, publicUrl }: Served): Promise<string | null> {
  const host = hostOf(publicUrl);
  return new Promise((resolve) => {
    const options = { host: hostOf(url), port: portOf(url), servername: host, rejectUnauthorized: false };
    const socket = connect({ ...options, timeout: shakeTimeoutMs });
    const tell = (answer: string | null) => {
      socket.destroy();
      resolve(answer);
    };
    const why = `There is no certificate for ${host} yet. Caddy goes on asking for one; what the authority says stands in its log: svc logs caddy`;
    socket.once('secureConnect', () => tell(null));
    socket.once('timeout', () => tell(why));
    socket.once('error', () => tell(why));
  });
}

/** What an authority takes that has no queue, several times over. */
const patienceMs = 20_000;
const lookIntervalMs = 100;

/** Waits for the first certificate of an authority, and tells where there is none for long: the platform runs all the same. */
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
