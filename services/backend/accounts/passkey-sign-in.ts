import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { parseId } from '../../contracts/ids.ts';
import type { WithLog } from '../bus/with-bus.ts';
import type { Node, Transaction } from '../graph/graph.ts';
import type { AccountRequest } from './account-route.ts';
import type { WithAttempts } from './attempts.ts';
import { type AddressConfig, cookie, readCookie, writeCookie } from './cookies.ts';
import { type AuthenticationResponse, authenticationShape } from './passkey-responses.ts';
import { getRelyingParty, loadWebauthn } from './relying-party.ts';
import { type Sealed, seal, sealedMaxAgeMs, unseal } from './sealed.ts';
import { type SignInNeeds, signIn } from './sign-in.ts';

export const passkeyShape = z.object({ response: authenticationShape });

export type PasskeyNeeds = SignInNeeds & WithAttempts & WithLog;
type Exchange = Omit<AccountRequest<unknown>, 'body'>;

/** The browser offers its passkeys for this page, so no address is asked for. */
export async function beginPasskeySignIn(backend: PasskeyNeeds, { reply }: Pick<Exchange, 'reply'>) {
  const { generateAuthenticationOptions } = await loadWebauthn();
  const options = await generateAuthenticationOptions({
    ...{ rpID: getRelyingParty(backend).id, userVerification: 'required', timeout: sealedMaxAgeMs },
  });
  const sealed = seal(backend, options.challenge, place);
  reply.header('set-cookie', writeCookie(cookieOf(backend), sealed, sealedMaxAgeMs / 1000));
  return { options };
}

/** Throws `unauthenticated`, with the reason in the log only. */
export async function signInWithPasskey(backend: PasskeyNeeds, response: AuthenticationResponse, exchange: Exchange) {
  const { network, request, reply } = exchange;
  const challenge = unseal(backend, readCookie(request.headers, cookieOf(backend)) ?? '', place);
  if (challenge === null) throw notBegun();
  const attempt = backend.attempts.begin({ what: 'passkey', account: response.id, network });
  try {
    const passkey = await backend.graph.findBy('passkey', { credentialId: response.id }, null);
    if (passkey === null) throw refused('it is unknown');
    const counter = await verify(backend, { passkey, response, challenge });
    const use = { verified: passkey, counter, challenge };
    const find = (transaction: Transaction) => usePasskey(transaction, use);
    const signedIn = await signIn(backend, { provenBy: 'passkey', find }, exchange);
    attempt.succeed();
    reply.header('set-cookie', writeCookie(cookieOf(backend), '', 0));
    return signedIn;
  } catch (thrown) {
    if (thrown instanceof SvcError && thrown.code === 'unauthenticated') {
      const reason = thrown.cause instanceof Error ? thrown.cause.message : undefined;
      backend.log('accounts').info({ request: request.id, network, reason }, 'refused a passkey');
    } else attempt.withdraw();
    throw thrown;
  }
}

interface Shown {
  readonly passkey: Node<'passkey'>;
  readonly response: AuthenticationResponse;
  readonly challenge: Sealed;
}

/** WebAuthn Level 3 §7.2. Returns the counter, which the transaction compares. */
async function verify(backend: PasskeyNeeds, { passkey, response, challenge }: Shown): Promise<number> {
  const { id, origin } = getRelyingParty(backend);
  const { userHandle } = response.response;
  if (userHandle !== undefined && Buffer.from(userHandle, 'base64url').toString() !== passkey.user) {
    throw refused('it belongs to another person');
  }
  const credential = {
    ...{ id: passkey.credentialId, counter: 0 },
    publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, 'base64url')),
  };
  const { verifyAuthenticationResponse } = await loadWebauthn();
  const verified = await verifyAuthenticationResponse({
    ...{ response, credential, requireUserVerification: true },
    ...{ expectedChallenge: challenge.value, expectedOrigin: origin, expectedRPID: id },
  }).catch((thrown: unknown) => {
    throw refused(thrown instanceof Error ? thrown.message.slice(0, 200) : 'unreadable');
  });
  if (!verified.verified) throw refused('its signature is wrong');
  return verified.authenticationInfo.newCounter;
}

interface Use {
  readonly verified: Node<'passkey'>;
  readonly counter: number;
  readonly challenge: Sealed;
}

/**
 * A challenge is not stored. So each use must have a newer one than the last: a repeated response is refused, also
 * that of an authenticator that does not count.
 */
async function usePasskey(transaction: Transaction, { verified, counter, challenge }: Use): Promise<Node<'user'>> {
  const passkey = await transaction.find('passkey', verified.id, null);
  if (passkey === null) throw refused('it was removed');
  const { sealedAt: lastChallengeAt } = challenge;
  if (lastChallengeAt <= (passkey.lastChallengeAt ?? 0)) throw refused('its challenge was used before');
  // Two authenticators with the same key (WebAuthn Level 3 §6.1.1). One that does not count says 0.
  const isCounted = counter > 0 || passkey.counter > 0;
  if (isCounted && counter <= passkey.counter) throw refused('its counter went back: it may have been copied');
  const changes = { counter, lastChallengeAt, lastUsedAt: Date.now() };
  await transaction.update('passkey', passkey.id, changes, { anchor: null, keepsVersion: true });
  const user = await transaction.find('user', parseId('user', passkey.user), null);
  if (user === null) throw refused('its person was removed');
  return user;
}

function refused(reason: string): SvcError {
  return new SvcError('unauthenticated', 'The passkey was refused.', {
    ...{ hint: 'Try again, or use another way to sign in.', cause: new Error(reason) },
  });
}

function notBegun(): SvcError {
  const message = 'The sign-in was not begun in this browser within five minutes.';
  return new SvcError('unauthenticated', message, { hint: 'Begin again.' });
}

const place = { node: 'browser', field: 'challenge to sign in with a passkey' } as const;

function cookieOf(backend: AddressConfig) {
  return cookie(backend, { use: 'passkey', sameSite: 'Strict' });
}
