import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { hostOf } from '../../services/contracts/host-of.ts';
import { portOf } from '../machine/port-of.ts';
import type { Plan } from '../plan/plan.ts';

const shakeTimeoutMs = 2000;

/** Why the proxy refuses https clients, or null. Trust in its certificates is not checked. */
export async function missingCertificate(
  url: string,
  { mcp, keys }: { readonly mcp: string; readonly keys: string | null },
): Promise<string | null> {
  const hosts = new Set([mcp, keys ?? mcp].map(hostOf));
  const found = await Promise.all([...hosts].map((host) => missingCertificateOf(host, url)));
  return found.find((why) => why !== null) ?? null;
}

function missingCertificateOf(host: string, url: string): Promise<string | null> {
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
    const why = await missingCertificate(front.url, addresses.public);
    if (why === null) return;
    if (performance.now() >= deadline) return onNotice(why);
    await pause(lookIntervalMs, undefined, { signal });
  }
}
