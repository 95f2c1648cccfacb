import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { Secret } from '../../contracts/secret.ts';
import type { WithConfig, WithLog } from '../bus/with-bus.ts';
import type { WithGraph } from '../graph/graph.ts';
import { signInLink } from '../mail/letters.ts';
import type { WithMail } from '../mail/mail-sender.ts';
import { queueMail } from '../mail/queue-mail.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { AccountRequest } from './account-route.ts';
import type { WithAttempts } from './attempts.ts';
import { emailShape } from './password-sign-in.ts';
import { addLink } from './sign-in-links.ts';

export const resetShape = z.object({ email: emailShape });

/** An answer takes at least this long, so that its time does not tell whether a mail was queued. */
const answerMs = 300;

export type ResetNeeds = WithGraph &
  WithSecrets &
  WithMail &
  WithAttempts &
  WithLog &
  WithConfig<'PUBLIC_FRONTEND_URL'>;

/** Queues a mail with a link that signs in. A stranger does not learn whether the address is a person's. */
export async function sendSignInLink(
  backend: ResetNeeds,
  { body: { email }, network, request }: AccountRequest<z.infer<typeof resetShape>>,
): Promise<null> {
  backend.attempts.begin({ what: 'link', account: email, network });
  const [isQueued] = await Promise.all([queueLink(backend, email), pause(answerMs)]);
  backend.log('accounts').info({ request: request.id, network, isQueued }, 'asked for a link by mail');
  return null;
}

const ownMail = { workspace: null, author: null };

async function queueLink(backend: ResetNeeds, email: string): Promise<boolean> {
  try {
    const isQueued = await backend.graph.write(async (transaction) => {
      const user = await transaction.findBy('user', { email }, null);
      if (user === null) return false;
      const { url, expiresAt } = await addLink(transaction, backend, user);
      const letter = signInLink({ link: new Secret(url), expiresAt });
      await queueMail(backend, transaction, { kind: 'sign-in', to: email, letter, ...ownMail, expiresAt });
      return true;
    });
    if (isQueued) backend.mailSender.wake();
    return isQueued;
  } catch (thrown) {
    // Too much mail to this address, which only a known one can have.
    if (thrown instanceof SvcError && thrown.code === 'rate_limited') return false;
    throw thrown;
  }
}
