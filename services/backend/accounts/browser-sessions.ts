import { SvcError } from '../../contracts/errors.ts';
import { type BrowserSessionId, findId, newId, parseId, type UserId } from '../../contracts/ids.ts';
import type { WithBus, WithConfig } from '../bus/with-bus.ts';
import { type Graph, type Node, pageMax, type Transaction, type WithGraph } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { readSignedText, signText } from '../secrets/signed-text.ts';
import type { UserPrincipal } from '../tokens/verify-token.ts';
import { announceAccount } from './announce-account.ts';

/** The ways to prove a person. */
export type ProvenBy = 'link' | 'password' | 'passkey' | 'provider';

/** A person has no more signed-in browsers; another one ends the oldest. */
const sessionsPerUserMax = 50;
/**
 * After a refresh, the token before it is answered with the same new token for this long: tabs of one browser refresh
 * at the same moment, and an answer may be lost.
 */
const graceMs = 30_000;
const deviceLengthMax = 100;

type SessionNeeds = WithGraph & WithBus & WithSecrets & WithConfig<'JWT_REFRESH_TOKEN_TTL'>;

export interface NewSession {
  readonly user: UserId;
  readonly provenBy: ProvenBy;
  /** As the person recognises it, such as "Firefox on Linux". */
  readonly device: string;
}

/** Runs in the transaction that consumes the proof, so that a proof opens one session or none. */
export async function createSession(
  transaction: Transaction,
  { config }: WithConfig<'JWT_REFRESH_TOKEN_TTL'>,
  { user, provenBy, device }: NewSession,
): Promise<Node<'browserSession'>> {
  await makeRoom(transaction, user);
  const now = Date.now();
  return await transaction.create('browserSession', {
    ...{ id: newId('browserSession'), user, device: device.slice(0, deviceLengthMax), generation: 1 },
    ...{ provenBy, provenAt: now, refreshedAt: now, createdAt: now },
    expiresAt: now + config.JWT_REFRESH_TOKEN_TTL * 1000,
  });
}

async function makeRoom(transaction: Transaction, user: UserId): Promise<void> {
  const where = [{ field: 'user', equals: user }] as const;
  const { nodes } = await transaction.select({ type: 'browserSession', anchor: null, where, limit: pageMax });
  for (const { id } of nodes.slice(0, Math.max(0, nodes.length - sessionsPerUserMax + 1))) {
    await transaction.remove('browserSession', id, null);
  }
}

/** The session, unless it has ended. */
export async function findSession(
  graph: Pick<Graph, 'find'>,
  id: BrowserSessionId,
): Promise<Node<'browserSession'> | null> {
  const session = await graph.find('browserSession', id, null);
  return session === null || session.expiresAt <= Date.now() ? null : session;
}

/** Idempotent. The pages of the session close at once. */
export async function endSession(backend: WithGraph & WithBus, id: BrowserSessionId): Promise<void> {
  const session = await backend.graph.find('browserSession', id, null);
  if (session === null) return;
  await backend.graph.write((transaction) => transaction.remove('browserSession', id, null));
  announceAccount(backend, parseId('user', session.user));
}

/** Newest first. */
export async function sessionsOf(
  graph: Pick<Graph, 'select'>,
  user: UserId,
): Promise<readonly Node<'browserSession'>[]> {
  const where = [{ field: 'user', equals: user }] as const;
  const { nodes } = await graph.select({ type: 'browserSession', anchor: null, where, limit: pageMax });
  return nodes.filter(({ expiresAt }) => expiresAt > Date.now()).toReversed();
}

/**
 * A page that is no longer signed in learns it from `announceAccount`, after the transaction. A sign-in writes the user
 * too, so one of the two concurrent transactions sees the other.
 */
export async function endOtherSessions(transaction: Transaction, { user, session }: UserPrincipal): Promise<void> {
  await transaction.update('user', user, {}, { anchor: null });
  const where = [{ field: 'user', equals: user }] as const;
  const { nodes } = await transaction.select({ type: 'browserSession', anchor: null, where, limit: pageMax });
  for (const { id } of nodes) if (id !== session) await transaction.remove('browserSession', id, null);
}

/**
 * A refresh token is `SESSION.GENERATION.SIGNATURE`. The signature proves that this platform made it; the session knows
 * which generation is current. So equal requests get equal tokens, and no token is stored.
 */
export function refreshTokenOf(backend: WithSecrets, { id, generation }: TokenNames): string {
  return signText(backend, 'refresh token', `${id}.${generation}`);
}

interface TokenNames {
  readonly id: BrowserSessionId;
  readonly generation: number;
}

export function readRefreshToken(backend: WithSecrets, token: string): TokenNames | null {
  const [named = '', generation] = readSignedText(backend, 'refresh token', token)?.split('.') ?? [];
  const id = findId('browserSession', named);
  return id === null ? null : { id, generation: Number(generation) };
}

/**
 * RFC 9700 §4.14: each use of a refresh token replaces it. An older one has been used twice, by its owner and by
 * somebody else, so the session ends.
 */
export async function refreshSession(backend: SessionNeeds, token: string): Promise<Node<'browserSession'>> {
  const names = readRefreshToken(backend, token);
  if (names === null) throw signedOut();
  const refreshed = await backend.graph.write(async (transaction) => {
    const session = await findSession(transaction, names.id);
    if (session === null) return null;
    const now = Date.now();
    if (names.generation === session.generation) {
      const expiresAt = now + backend.config.JWT_REFRESH_TOKEN_TTL * 1000;
      const changes = { generation: session.generation + 1, refreshedAt: now, expiresAt };
      return await transaction.update('browserSession', session.id, changes, { anchor: null, keepsVersion: true });
    }
    const isRepeated = names.generation === session.generation - 1 && now - session.refreshedAt <= graceMs;
    return isRepeated ? session : null;
  });
  if (refreshed !== null) return refreshed;
  await endSession(backend, names.id);
  throw signedOut();
}

export function signedOut(): SvcError {
  return new SvcError('unauthenticated', 'You are signed out: the session has ended.', { hint: 'Sign in again.' });
}
