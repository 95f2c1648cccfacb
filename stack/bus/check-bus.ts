import { readFileSync } from 'node:fs';
import { SvcError } from '../../services/contracts/errors.ts';
import type { Plan } from '../lifecycle/plan.ts';
import { readSecret } from '../secrets.ts';
import { greetNats } from './greet-nats.ts';
import { busKeysOf } from './nats-configuration.ts';
import { isNewEnough, oldestNats } from './nats-server.ts';

/** Refuses, before anything is started, a bus that somebody else runs and that is not as we need it. */
export async function checkBus(plan: Plan): Promise<void> {
  const { servers } = plan.definition.bus;
  if (servers === 'auto') return;
  for (const server of servers) await checkServer(server, plan);
}

async function checkServer(server: string, { environment, secrets }: Plan): Promise<void> {
  const caPath = environment.backend.BUS_CA_PATH;
  const ca = caPath === undefined ? null : readFileSync(caPath, 'utf8');
  for (const [user, file] of [
    ['callout', secrets.busCalloutSeed],
    ['system', secrets.busSystemSeed],
  ] as const) {
    const greeted = await greetNats({ server, ca, seed: readSecret(file) });
    const { version, jetstream, isKnown } = greeted;
    if (!isNewEnough(version)) {
      throw new SvcError('unsupported', `${server} runs NATS ${version}, and ${oldestNats} or newer is needed.`);
    }
    if (!jetstream) {
      throw new SvcError('unsupported', `${server} runs NATS without JetStream, which sessions are kept in.`, {
        hint: 'Its configuration needs jetstream { store_dir: … }.',
      });
    }
    if (isKnown) continue;
    const keys = busKeysOf(secrets);
    throw new SvcError('forbidden', `${server} does not know the user of our ${user} account.`, {
      hint: `Its configuration needs the accounts and the authorization of templates/nats.conf, with these public keys: callout ${keys.CALLOUT_PUBLIC_KEY}, system ${keys.SYSTEM_PUBLIC_KEY}, issuer ${keys.ISSUER_PUBLIC_KEY}.`,
    });
  }
}
