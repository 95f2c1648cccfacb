import { createHash } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, type ProtectedHeaderParameters } from 'jose';
import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';
import { id } from '../../contracts/id-schema.ts';
import type { BrowserSessionId, KeyId, UserId, WorkspaceId } from '../../contracts/ids.ts';
import {
  type AgentScope,
  agentScopes,
  agentTokenType,
  keyClaim,
  mcpTokenAudience,
  sessionClaim,
  tokenAudience,
  tokenKindClaim,
  tokenKinds,
  workspaceClaim,
} from '../../contracts/token.ts';
import { BoundedMap } from '../../kit/bounded-map.ts';
import type { VerifyingKey } from './signing-keys.ts';

/** The owner of a token. */
export type TokenPrincipal = { readonly kind: 'operator'; readonly name: string } | UserPrincipal;

/** A person who is signed in, in one browser. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly user: UserId;
  readonly session: BrowserSessionId;
}

/** Throws `unauthenticated`, and nothing else, when a token is not valid. */
export type VerifyToken = (token: string) => Promise<TokenPrincipal>;

export interface TokenRules {
  readonly issuer: string;
  readonly verifying: readonly VerifyingKey[];
  /** Checked at every use, because a session may end while a token of it is valid. */
  readonly isSignedIn: (principal: UserPrincipal) => Promise<boolean>;
  readonly now?: () => number;
}

/** A token's signature is checked once (0.3 ms); then its hash is remembered until it expires. */
export function createTokenVerifier(rules: TokenRules): VerifyToken {
  const now = rules.now ?? Date.now;
  const verified = new BoundedMap<{ readonly principal: TokenPrincipal; readonly expiresAt: number }>(rememberedMax);
  return async (token) => {
    const hash = createHash('sha256').update(token).digest('base64url');
    let known = verified.get(hash);
    if (known === undefined || known.expiresAt <= now()) {
      known = await check(token, rules, now());
      verified.set(hash, known);
    }
    await requireSession(known.principal, rules);
    return known.principal;
  };
}

/** An operator or a person at the address of agents, in one workspace. */
export type McpPrincipal = TokenPrincipal & { readonly workspace: WorkspaceId; readonly expiresAt: number };

export type VerifyMcpToken = (token: string) => Promise<McpPrincipal>;

/**
 * For tokens of operators and persons at remote-mcp, which remembers the answer. Throws `unauthenticated`, and nothing
 * else.
 */
export function createMcpTokenVerifier(rules: TokenRules): VerifyMcpToken {
  const now = rules.now ?? Date.now;
  return async (token) => {
    const payload = await verifySignature(token, { ...rules, audience: mcpTokenAudience }, now());
    const parsed = mcpClaims.safeParse(payload);
    if (!parsed.success) throw refused(`its claim "${parsed.error.issues[0]?.path.join('.')}" is missing or wrong`);
    const principal = principalOf(parsed.data);
    await requireSession(principal, rules);
    return { ...principal, workspace: parsed.data.workspace, expiresAt: expiryOf(payload) };
  };
}

/** A connected agent, or a program that exchanged its key, as the access token names it. */
export interface AgentPrincipal {
  readonly key: KeyId;
  readonly user: UserId;
  /** The OAuth client of the agent, or the id of the exchanged key. */
  readonly client: string;
  readonly scope: AgentScope;
  readonly expiresAt: number;
}

export type VerifyAgentToken = (token: string) => Promise<AgentPrincipal>;

/** For access tokens of agents (RFC 9068 §4) at `audience`. Throws `unauthenticated`, and nothing else. */
export function createAgentTokenVerifier(
  rules: Omit<TokenRules, 'isSignedIn'> & { readonly audience: string },
): VerifyAgentToken {
  const now = rules.now ?? Date.now;
  return async (token) => {
    const payload = await verifySignature(token, { ...rules, type: agentTokenType }, now());
    const parsed = agentClaims.safeParse(payload);
    if (!parsed.success) throw refused(`its claim "${parsed.error.issues[0]?.path.join('.')}" is missing or wrong`);
    const { [keyClaim]: key, sub: user, client_id: client, scope } = parsed.data;
    return { key, user, client, scope, expiresAt: expiryOf(payload) };
  };
}

const agentClaims = z.object({
  sub: id('user'),
  [keyClaim]: id('key'),
  client_id: z.string().min(1),
  scope: z.enum(agentScopes),
});

/** Bounds the memory of floods of different valid tokens: about 1 MB. */
const rememberedMax = 4096;
const tokenLengthMax = 8192;

const claims = z.discriminatedUnion(tokenKindClaim, [
  z.object({ kind: z.literal(tokenKinds[0]), sub: z.string().min(1).max(255) }),
  z.object({ kind: z.literal(tokenKinds[1]), sub: id('user'), [sessionClaim]: id('browserSession') }),
]);

const mcpClaims = z.intersection(claims, z.object({ [workspaceClaim]: id('workspace') }));

async function requireSession(principal: TokenPrincipal, { isSignedIn }: Pick<TokenRules, 'isSignedIn'>) {
  if (principal.kind === 'operator' || (await isSignedIn(principal))) return;
  throw refused('the session it was issued to has ended');
}

async function check(token: string, rules: TokenRules, now: number) {
  if (token.length > tokenLengthMax) throw refused(`it is longer than ${tokenLengthMax} characters`);
  const payload = await verifySignature(token, { ...rules, audience: tokenAudience }, now);
  const parsed = claims.safeParse(payload);
  if (!parsed.success) throw refused(`its claim "${parsed.error.issues[0]?.path.join('.')}" is missing or wrong`);
  return { principal: principalOf(parsed.data), expiresAt: expiryOf(payload) };
}

function principalOf(named: z.infer<typeof claims>): TokenPrincipal {
  return named.kind === 'operator'
    ? { kind: 'operator', name: named.sub }
    : { kind: 'user', user: named.sub, session: named[sessionClaim] };
}

/** In milliseconds. jwtVerify has checked that `exp` exists. */
function expiryOf({ exp = 0 }: JWTPayload): number {
  return exp * 1000;
}

/** RFC 8725: one algorithm, chosen here and never by the token (§3.1), issuer and audience checked (§3.8, §3.9). */
async function verifySignature(
  token: string,
  rules: Pick<TokenRules, 'issuer' | 'verifying'> & { readonly audience: string; readonly type?: string },
  now: number,
): Promise<JWTPayload> {
  const keyOf = ({ kid }: ProtectedHeaderParameters) => {
    const found = kid === undefined ? rules.verifying[0] : rules.verifying.find((candidate) => candidate.kid === kid);
    if (found === undefined) throw refused('it is signed with a key that this platform does not know');
    return found.key;
  };
  try {
    const { payload } = await jwtVerify(token, keyOf, {
      algorithms: ['EdDSA'],
      issuer: rules.issuer,
      audience: rules.audience,
      requiredClaims: ['exp', 'sub'],
      ...(rules.type === undefined ? {} : { typ: rules.type }),
      currentDate: new Date(now),
    });
    return payload;
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw refused(describe(error), error);
  }
}

function describe(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `its claim "${error.claim}" is missing or wrong`;
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not EdDSA';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is not ours';
  return 'it is not a signed JWT';
}

function refused(why: string, cause?: unknown): SvcError {
  return new SvcError('unauthenticated', `The token is refused: ${why}.`, { cause });
}
