import type { SignInWays } from '../../contracts/browser-answers.ts';
import { accountPath } from '../../contracts/token.ts';
import { backendUrl } from '../app/environment.ts';
import { postAccount } from './account.ts';
import { ShownError } from './shown-error.ts';

/** The ways to sign in that this installation has, besides a link. */
export function readWays(): Promise<SignInWays> {
  return postAccount('ways', {});
}

/** Where a person signs in by the provider, and returns to this path of the pages. */
export function providerUrl(back = '/'): string {
  return `${backendUrl}${accountPath}/provider?${new URLSearchParams({ back })}`;
}

/** Signs in with a passkey of this device. The library is loaded when a person wants it. */
export async function signInWithPasskey(): Promise<void> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const { options } = await postAccount('passkey/options', {});
  const response = await startAuthentication({
    optionsJSON: options as Parameters<typeof startAuthentication>[0]['optionsJSON'],
  }).catch(() => {
    throw refusedPasskey;
  });
  await postAccount('passkey', { response });
}

const refusedPasskey = new ShownError({
  code: 'cancelled',
  message: 'No passkey was used.',
  hint: 'Try again, or choose another way.',
  requestId: null,
});
