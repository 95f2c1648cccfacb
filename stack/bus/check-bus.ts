import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { isVersion } from '../machine/check-program.ts';
import { busKeysOf, oldestNats } from '../parts/nats.ts';
import type { Plan } from '../plan/plan.ts';
import { readSecret } from '../secrets/secrets.ts';
import { greetNats } from './greet-nats.ts';

/** Refuses an external bus that does not fit, before anything starts. */
export async function checkBus(plan: Plan): Promise<void> {
  const { servers } = plan.definition.bus;
  if (servers === 'auto') return;
  for (const server of servers) await checkServer(server, plan);
}

async function checkServer(server: string, { installation, definition, secrets }: Plan): Promise<void> {
  const { ca: caPath } = definition.bus;
  const trust = caPath === undefined ? {} : { ca: readFileSync(resolve(installation.dir, caPath), 'utf8') };
  for (const [user, file] of [
    ['callout', secrets.busCalloutSeed],
    ['system', secrets.busSystemSeed],
  ] as const) {
    const { version, jetstream, isKnown } = await greetNats({ server, trust, seed: readSecret(file) });
    if (!isVersion(version, oldestNats)) {
      throw new SvcError('unsupported', `${server} runs NATS ${version}, and ${oldestNats} or newer is needed.`);
    }
    if (!jetstream) {
      throw new SvcError('unsupported', `${server} runs NATS without JetStream, which sessions are kept in.`, {
        hint: 'Its configuration needs jetstream { store_dir: … }.',
      });
    }
    if (isKnown) continue;
    const keys = busKeysOf(secrets, readSecret);
    throw new SvcError('forbidden', `${server} does not know the user of our ${user} account.`, {
      hint: `Its configuration needs the accounts and the authorization of templates/nats.conf, with these public keys: callout ${keys.CALLOUT_PUBLIC_KEY}, system ${keys.SYSTEM_PUBLIC_KEY}, issuer ${keys.ISSUER_PUBLIC_KEY}.`,
    });
  }
}
