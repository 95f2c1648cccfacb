import { SvcError } from '../../contracts/errors.ts';
import { newId } from '../../contracts/ids.ts';
import { checkPassword } from '../../contracts/password-rule.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { WithBus, WithConfig } from '../bus/with-bus.ts';
import type { Graph, Node, Transaction, WithGraph } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { TokenPrincipal, UserPrincipal } from '../tokens/verify-token.ts';
import { announceAccount } from './announce-account.ts';
import type { WithAttempts } from './attempts.ts';
import { endOtherSessions, findSession, signedOut } from './browser-sessions.ts';
import { getOwnUser, requireFreshProof, requirePerson } from './own-account.ts';
import { tryPassword } from './password-sign-in.ts';
import type { WithPasswords } from './passwords.ts';
import { requirePasswords } from './require-passwords.ts';
import { removeLinks } from './sign-in-links.ts';

export interface NewPassword {
  /** Null when a recent sign-in proves the person. */
  readonly current: Secret | null;
  readonly password: Secret;
}

type SetPasswordNeeds = WithGraph &
  WithBus &
  WithSecrets &
  WithConfig<'SIGN_IN_PASSWORDS'> &
  WithPasswords &
  WithAttempts;

/** Sets the caller's password. Everybody else who is signed in as this person, or has a link, must use the new one. */
export async function setPassword(
  backend: SetPasswordNeeds,
  principal: TokenPrincipal,
  { current, password }: NewPassword,
): Promise<void> {
  const person = requirePerson(principal);
  requirePasswords(backend);
  const user = await getOwnUser(backend.graph, person);
  checkPassword(password.reveal(), user.email);
  if (current === null) await requireFreshProof(backend.graph, person);
  const stored = await backend.graph.findBy('password', { user: user.id }, null);
  if (current !== null) await checkCurrent(backend, { user, person, stored, current });
  const hash = await backend.passwords.hash(password, person.user);
  await backend.graph.write(async (transaction) => {
    if ((await findSession(transaction, person.session)) === null) throw signedOut();
    await writePassword(transaction, { user, stored, hash });
    await endOtherSessions(transaction, person);
    await removeLinks(backend, transaction, user);
  });
  announceAccount(backend, user.id);
}

export async function hasPassword(graph: Pick<Graph, 'findBy'>, user: string): Promise<boolean> {
  return (await graph.findBy('password', { user }, null)) !== null;
}

interface CurrentPassword {
  readonly user: Node<'user'>;
  readonly person: UserPrincipal;
  readonly stored: Node<'password'> | null;
  readonly current: Secret;
}

/** Counted by person in place of the network, so that stolen sessions do not guess. */
async function checkCurrent(backend: SetPasswordNeeds, { user, person, stored, current }: CurrentPassword) {
  const tried = { account: user.email, network: person.user, stored, shown: current };
  if ((await tryPassword(backend, tried)) !== 'wrong') return;
  throw new SvcError('forbidden', 'The current password is wrong.');
}

interface WrittenPassword {
  readonly user: Node<'user'>;
  readonly stored: Node<'password'> | null;
  readonly hash: string;
}

/** Throws `conflict` if the password was changed in the meantime. */
async function writePassword(transaction: Transaction, { user, stored, hash }: WrittenPassword): Promise<void> {
  const now = Date.now();
  if (stored === null) {
    await transaction.create('password', { id: newId('password'), user: user.id, hash, createdAt: now });
    return;
  }
  const options = { anchor: null, ifVersion: stored.version };
  await transaction.update('password', stored.id, { hash, createdAt: now }, options);
}
