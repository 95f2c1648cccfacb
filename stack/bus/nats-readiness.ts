import type { ReadyCheck } from '../parts/part.ts';
import { readSecret } from '../secrets/secrets.ts';
import { askHealth } from './greet-nats.ts';

/** Null where the node is ready, else what it lacks. Throws `unavailable` where it does not answer. */
export async function missingOfNats({ url, seedFile }: Extract<ReadyCheck, { kind: 'nats' }>): Promise<string | null> {
  const { status, error = 'It does not say why.' } = await askHealth({ server: url, seed: readSecret(seedFile) });
  return status === 'ok' ? null : error;
}
