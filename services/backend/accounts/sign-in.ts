import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../../contracts/browser-answers.ts';
import type { WithBus, WithConfig } from '../bus/with-bus.ts';
import type { Node, Transaction, WithGraph } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { SigningKeys } from '../tokens/signing-keys.ts';
import { createSession, type ProvenBy } from './browser-sessions.ts';
import { describeDevice } from './device.ts';
import { cookiesOf } from './session-cookies.ts';

export type SignInNeeds = WithGraph & WithBus & WithSecrets & WithConfig & { readonly signingKeys: SigningKeys };

export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface Proof {
  readonly provenBy: ProvenBy;
  /** Consumes the proof and returns its person, or throws. */
  readonly find: (transaction: Transaction) => Promise<Node<'user'>>;
}

/** Opens a session for the proven person: one transaction, so that a proof is never consumed without its session. */
export async function signIn(backend: SignInNeeds, { provenBy, find }: Proof, exchange: Exchange): Promise<SignedIn> {
  const opened = await backend.graph.write(async (transaction) => {
    const user = await find(transaction);
    return { user, session: await openSession(transaction, backend, { user, provenBy, request: exchange.request }) };
  });
  return await answerSignedIn(backend, opened, exchange);
}

interface Proven extends Pick<Exchange, 'request'> {
  readonly user: Node<'user'>;
  readonly provenBy: ProvenBy;
}

export async function openSession(
  transaction: Transaction,
  backend: SignInNeeds,
  { user, provenBy, request }: Proven,
): Promise<Node<'browserSession'>> {
  const device = describeDevice(request.headers['user-agent']);
  await transaction.update('user', user.id, { signedInAt: Date.now() }, { anchor: null, keepsVersion: true });
  return await createSession(transaction, backend, { user: user.id, provenBy, device });
}

export async function answerSignedIn(
  backend: SignInNeeds,
  { user, session }: { readonly user: Node<'user'>; readonly session: Node<'browserSession'> },
  { reply }: Exchange,
): Promise<SignedIn> {
  reply.header('set-cookie', [...(await cookiesOf(backend, session))]);
  return { user: { id: user.id, email: user.email, name: user.name } };
}
