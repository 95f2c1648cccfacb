import { readSecret } from '../secrets.ts';
import { askHealth } from './greet-nats.ts';

/** Where a node of NATS is asked whether it is ready: its client port, with the file of the seed by which it answers. */
export function natsReadyUrl(url: string, systemSeedFile: string): string {
  return `${url}/?${new URLSearchParams({ seed: systemSeedFile })}`;
}

export function isNatsUrl(url: string): boolean {
  return url.startsWith('nats:');
}

/** Null where the node is ready, else what it lacks. Throws `unavailable` where it does not answer. */
export async function missingOfNats(readyUrl: string): Promise<string | null> {
  const { host, searchParams } = new URL(readyUrl);
  const seed = readSecret(searchParams.get('seed') ?? '');
  const { status, error = 'It does not say why.' } = await askHealth({ server: `nats://${host}`, seed });
  return status === 'ok' ? null : error;
}
