import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { parseId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import type { WithLog } from '../bus/with-bus.ts';
import type { Graph, Node, Transaction } from '../graph/graph.ts';
import type { AccountRequest } from './account-route.ts';
import type { Attempt, Attempted, WithAttempts } from './attempts.ts';
import type { Verdict, WithPasswords } from './passwords.ts';
import { requirePasswords } from './require-passwords.ts';
import { type SignInNeeds, signIn } from './sign-in.ts';

/** The checks are those of `parseEmail`. A refusal does not quote the text, which may be a password in the wrong field. */
export const emailShape = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/);
/** A password that was stored before a stricter rule may still be used. */
export const passwordShape = z.object({ email: emailShape, password: z.string().max(1000) });

export type PasswordNeeds = SignInNeeds & WithPasswords & WithAttempts & WithLog;

/** Throws `unauthenticated` with one text for an unknown address, a person without a password, and a wrong password. */
export async function signInWithPassword(
  backend: PasswordNeeds,
  { email, password }: z.infer<typeof passwordShape>,
  exchange: Omit<AccountRequest<unknown>, 'body'>,
) {
  requirePasswords(backend);
  const { network, request } = exchange;
  const shown = new Secret(password);
  const stored = await findPassword(backend.graph, email);
  const verdict = await tryPassword(backend, { account: email, network, stored, shown });
  if (stored === null || verdict === 'wrong') {
    backend.log('accounts').info({ request: request.id, network, user: stored?.user }, 'refused a password');
    throw wrong();
  }
  const renewed = verdict === 'weak' ? await backend.passwords.hash(shown, network) : null;
  const find = (transaction: Transaction) => usePassword(transaction, stored, renewed);
  return await signIn(backend, { provenBy: 'password', find }, exchange);
}

interface TriedPassword extends Omit<Attempted, 'what'> {
  readonly stored: Node<'password'> | null;
  readonly shown: Secret;
}

/** Counts the attempt. Throws `rate_limited` after too many. */
export async function tryPassword(
  { passwords, attempts }: WithPasswords & WithAttempts,
  { stored, shown, ...attempted }: TriedPassword,
): Promise<Verdict> {
  const attempt = attempts.begin({ ...attempted, what: 'password' });
  const verdict = await passwords.verify(shown, stored?.hash ?? null, attempted.network).catch(withdrawing(attempt));
  if (verdict !== 'wrong') attempt.succeed();
  return verdict;
}

function withdrawing(attempt: Attempt): (thrown: unknown) => never {
  return (thrown) => {
    attempt.withdraw();
    throw thrown;
  };
}

async function findPassword(graph: Pick<Graph, 'findBy'>, email: string): Promise<Node<'password'> | null> {
  const user = await graph.findBy('user', { email }, null);
  return user === null ? null : await graph.findBy('password', { user: user.id }, null);
}

/** The verified password may have been changed, or its person removed, in the meantime. */
async function usePassword(
  transaction: Transaction,
  verified: Node<'password'>,
  renewed: string | null,
): Promise<Node<'user'>> {
  const user = await transaction.find('user', parseId('user', verified.user), null);
  const present = await transaction.find('password', verified.id, null);
  if (user === null || present?.hash !== verified.hash) throw wrong();
  if (renewed !== null) await transaction.update('password', present.id, { hash: renewed }, { anchor: null });
  return user;
}

function wrong(): SvcError {
  return new SvcError('unauthenticated', 'The address or the password is wrong.', {
    hint: 'Use another way to sign in, then set a new password.',
  });
}
