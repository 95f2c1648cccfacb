import { findId } from '../../contracts/ids.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import type { Graph } from '../graph/graph.ts';
import { passkeysOf } from './passkeys.ts';
import { findRelyingParty, type WithPageAddress } from './relying-party.ts';
import { hasPassword } from './set-password.ts';

/** The ways in that the sign-in page offers. They are those of the platform, and tell nothing about a person. */
export interface SignInWays {
  readonly password: boolean;
  readonly passkeys: boolean;
  /** Whether mail is sent. Otherwise an operator makes the link for a person without a password. */
  readonly mail: boolean;
  readonly provider: { readonly name: string } | null;
}

export function waysToSignIn(backend: WithConfig<'EMAIL_PROVIDER'> & WithPageAddress): SignInWays {
  return {
    password: true,
    passkeys: findRelyingParty(backend) !== null,
    mail: backend.config.EMAIL_PROVIDER !== 'log',
    provider: null,
  };
}

/** Whether a person can sign in without a link. */
export async function hasWayToSignIn(graph: Pick<Graph, 'findBy' | 'select'>, named: string): Promise<boolean> {
  const user = findId('user', named);
  if (user === null) return false;
  return (await hasPassword(graph, user)) || (await passkeysOf(graph, user)).length > 0;
}
