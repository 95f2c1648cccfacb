import type { SignInWays } from '../../contracts/browser-answers.ts';
import { findId } from '../../contracts/ids.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import type { WithGraph } from '../graph/graph.ts';
import { passkeysOf } from './passkeys.ts';
import type { WithProvider } from './provider.ts';
import { findRelyingParty, type WithPageAddress } from './relying-party.ts';
import { hasPassword } from './set-password.ts';

export function waysToSignIn(
  backend: WithConfig<'EMAIL_PROVIDER' | 'SIGN_IN_PASSWORDS'> & WithPageAddress & WithProvider,
): SignInWays {
  return {
    password: backend.config.SIGN_IN_PASSWORDS,
    passkeys: findRelyingParty(backend) !== null,
    mail: backend.config.EMAIL_PROVIDER !== 'log',
    provider: backend.provider === null ? null : { name: backend.provider.name },
  };
}

type OwnWays = WithGraph & WithConfig<'SIGN_IN_PASSWORDS' | 'SIGN_IN_PROVIDER_ISSUER'>;

/** Whether a person can sign in without a link. */
export async function hasWayToSignIn({ graph, config }: OwnWays, named: string): Promise<boolean> {
  const user = findId('user', named);
  if (user === null) return false;
  const { SIGN_IN_PASSWORDS: hasPasswords, SIGN_IN_PROVIDER_ISSUER: issuer } = config;
  if (hasPasswords && (await hasPassword(graph, user))) return true;
  if (issuer !== undefined && (await graph.findBy('identity', { issuer, user }, null)) !== null) return true;
  return (await passkeysOf(graph, user)).length > 0;
}
