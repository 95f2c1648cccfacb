import {
  connect as dial,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import { SvcError } from '../../../contracts/errors.ts';
import { randomText } from '../../../contracts/ids.ts';
import type { NatsContentOptions } from '../content.ts';
import { authorizationSubject, busAccount } from './callout.ts';
import { connectDeadlineMs } from './dial.ts';
import { Issuer } from './issuer.ts';
import { tlsOf } from './tls.ts';
import { admit, readApplicant, refuse } from './user-token.ts';

/** The only connection to a bus without backends: the holder of its seeds is the authorizer and admits only itself. */
export async function connectAlone(options: Omit<NatsContentOptions, 'keyMaxAgeMs'>): Promise<NatsConnection> {
  const { servers, caPath, seeds } = options;
  const tls = tlsOf(servers, caPath);
  const open = async (how: NodeConnectionOptions) => {
    // Uses the same node, because other nodes know the authorizer a moment later.
    const same = { servers: [...servers], noRandomize: true };
    const shared = { ...same, timeout: connectDeadlineMs, reconnect: false, noAsyncTraces: true };
    return await dial({ ...shared, ...(tls === null ? {} : { tls }), ...how }).catch((cause: unknown) => {
      throw new SvcError('unavailable', `Cannot open the bus at ${servers.join(', ')}.`, {
        hint: 'Check that it runs and that its configuration names the public keys of the seeds in secrets/.',
        cause,
      });
    });
  };
  const issuer = new Issuer(seeds.issuer);
  const word = randomText(43);
  const deciding = await open({ authenticator: nkeyAuthenticator(Buffer.from(seeds.callout.reveal())) });
  try {
    deciding.subscribe(authorizationSubject, {
      queue: 'backend',
      callback: (error, message) => {
        if (error !== null) return;
        const applicant = readApplicant(message.string());
        const grants = { publish: ['>'], subscribe: ['>'] };
        const isOwn = applicant.password === word;
        message.respond(
          isOwn
            ? admit(issuer, { applicant, account: busAccount, name: 'alone', grants })
            : refuse(issuer, applicant, 'The platform is being moved.'),
        );
      },
    });
    await deciding.flush();
    return await open({ user: 'alone', pass: word });
  } finally {
    await deciding.close();
  }
}
