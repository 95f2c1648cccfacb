import { z } from 'zod';
import { type AccountRoutes, addAccountRoute } from './account-route.ts';
import { endSession, readRefreshToken, refreshSession, signedOut } from './browser-sessions.ts';
import { type AddressNeeds, addressShape, confirmAddress } from './change-address.ts';
import { linkShape, signInWithLink } from './link-sign-in.ts';
import { beginPasskeySignIn, type PasskeyNeeds, passkeyShape, signInWithPasskey } from './passkey-sign-in.ts';
import { type PasswordNeeds, passwordShape, signInWithPassword } from './password-sign-in.ts';
import type { WithProvider } from './provider.ts';
import { type ResetNeeds, resetShape, sendSignInLink } from './reset.ts';
import { clearedCookies, cookiesOf, refreshTokenIn } from './session-cookies.ts';
import type { SignInNeeds } from './sign-in.ts';
import { waysToSignIn } from './sign-in-ways.ts';

type AccountNeeds = SignInNeeds & PasswordNeeds & PasskeyNeeds & ResetNeeds & AddressNeeds & WithProvider;

/** `POST /account/…`: signs people in and out. */
export function addAccounts(account: AccountRoutes, backend: AccountNeeds): void {
  addAccountRoute(account, 'link', linkShape, (exchange) => signInWithLink(backend, exchange));

  addAccountRoute(account, 'ways', z.object({}), async () => waysToSignIn(backend));

  addAccountRoute(account, 'password', passwordShape, ({ body, ...exchange }) =>
    signInWithPassword(backend, body, exchange),
  );

  addAccountRoute(account, 'passkey/options', z.object({}), (exchange) => beginPasskeySignIn(backend, exchange));

  addAccountRoute(account, 'passkey', passkeyShape, ({ body, ...exchange }) =>
    signInWithPasskey(backend, body.response, exchange),
  );

  addAccountRoute(account, 'reset', resetShape, (exchange) => sendSignInLink(backend, exchange));

  addAccountRoute(account, 'address', addressShape, (exchange) => confirmAddress(backend, exchange));

  addAccountRoute(account, 'refresh', z.object({}), async ({ request, reply }) => {
    const token = refreshTokenIn(backend, request.headers);
    if (token === undefined) throw signedOut();
    const session = await refreshSession(backend, token);
    reply.header('set-cookie', [...(await cookiesOf(backend, session))]);
    return null;
  });

  addAccountRoute(account, 'sign-out', z.object({}), async ({ request, reply }) => {
    const names = readRefreshToken(backend, refreshTokenIn(backend, request.headers) ?? '');
    if (names !== null) await endSession(backend, names.id);
    reply.header('set-cookie', [...clearedCookies(backend)]);
    return null;
  });
}
