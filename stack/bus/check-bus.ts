import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../../services/contracts/errors.ts';
import { busKeysOf } from '../parts/nats-configuration.ts';
import type { Plan } from '../plan/plan.ts';
import { readSecret, type SecretFiles } from '../secrets/secrets.ts';
import { isNewEnough, oldestNats } from './nats-server.ts';

/** Refuses an external bus that does not fit, before anything starts. */
export async function checkBus(plan: Plan): Promise<void> {
  const { servers } = plan.definition.bus;
  if (servers === 'auto') return;
  for (const server of servers) await checkServer(server, plan);
}

async function checkServer(server: string, { installation, definition, secrets }: Plan): Promise<void> {
  // Most commands need no connection to the bus.
  const { askNats, tlsOf } = await import('./ask-nats.ts');
  const { ca: caPath } = definition.bus;
  const ca = caPath === undefined ? null : readFileSync(resolve(installation.dir, caPath), 'utf8');
  const users = { callout: secrets.busCalloutSeed, system: secrets.busSystemSeed };
  for (const [user, file] of Object.entries(users)) {
    const login = { server, seed: readSecret(file), ...tlsOf(server, ca) };
    const info = await askNats(login, (connection) => connection.info).catch((error: unknown) => {
      throw error instanceof SvcError && error.code === 'forbidden' ? unknownUser(server, user, secrets) : error;
    });
    const { version = null, jetstream = false } = info ?? {};
    if (!isNewEnough(version)) {
      throw new SvcError('unsupported', `${server} runs NATS ${version}, and ${oldestNats} or newer is needed.`);
    }
    if (!jetstream) {
      throw new SvcError('unsupported', `${server} runs NATS without JetStream, which sessions are kept in.`, {
        hint: 'Its configuration needs jetstream { store_dir: … }.',
      });
    }
  }
}

function unknownUser(server: string, user: string, secrets: SecretFiles): SvcError {
  const keys = busKeysOf(secrets, readSecret);
  return new SvcError('forbidden', `${server} does not know the user of our ${user} account.`, {
    hint: `Its configuration needs the accounts and the authorization of templates/nats.conf, with these public keys: callout ${keys.CALLOUT_PUBLIC_KEY}, system ${keys.SYSTEM_PUBLIC_KEY}, issuer ${keys.ISSUER_PUBLIC_KEY}.`,
  });
}
