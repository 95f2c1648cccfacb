import type { NatsConnection } from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import { newProcessId } from '../../../contracts/ids.ts';
import type { NatsContentOptions } from '../content.ts';
import { isRefused, openConnection } from './dial.ts';
import { Issuer } from './issuer.ts';
import { backendLogin, connectionName, newInbox } from './login.ts';

/** A connection to a bus whose backends run: they admit it as a backend, because it holds the seed that they sign admissions with. */
export async function connectBeside(options: Omit<NatsContentOptions, 'keyMaxAgeMs'>): Promise<NatsConnection> {
  const { servers, caPath, seeds } = options;
  const issuer = new Issuer(seeds.issuer);
  const process = newProcessId();
  const inboxPrefix = newInbox();
  try {
    return await openConnection(
      { servers, caPath },
      {
        ...{ inboxPrefix, name: connectionName(process, inboxPrefix), reconnect: false },
        authenticator: () => backendLogin(issuer, process),
      },
      { firstMs: 100, maxMs: 500 },
    );
  } catch (thrown) {
    if (!isRefused(thrown)) throw thrown;
    throw new SvcError('unavailable', `The bus at ${servers.join(', ')} did not admit this command.`, {
      hint: 'Does a backend run? svc status',
      cause: thrown,
    });
  }
}
