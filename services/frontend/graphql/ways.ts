import { accountPath } from '../../contracts/token.ts';
import { backendUrl } from '../app/environment.ts';
import { postAccount } from './account.ts';
import { fieldOf, ShownError } from './shown-error.ts';

/** The ways to sign in that this installation has, besides a link. */
export interface Ways {
  readonly password: boolean;
  readonly passkeys: boolean;
  /** Whether the platform sends mail, so that a person can ask for a link. */
  readonly mail: boolean;
  /** The name of the OpenID provider. */
  readonly provider: string | null;
}

export async function readWays(): Promise<Ways> {
  const answer = await postAccount('ways', {});
  const isOffered = (name: string) => fieldOf(answer, name) === true;
  const provider = fieldOf(fieldOf(answer, 'provider'), 'name');
  return {
    password: isOffered('password'),
    passkeys: isOffered('passkeys'),
    mail: isOffered('mail'),
    provider: typeof provider === 'string' ? provider : null,
  };
}

/** Where a person signs in by the provider, and returns to this path of the pages. */
export function providerUrl(back = '/'): string {
  return `${backendUrl}${accountPath}/provider?${new URLSearchParams({ back })}`;
}

/** Signs in with a passkey of this device. The library is loaded when a person wants it. */
export async function signInWithPasskey(): Promise<void> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const options = fieldOf(await postAccount('passkey/options', {}), 'options');
  if (typeof options !== 'object' || options === null) throw refusedPasskey;
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
