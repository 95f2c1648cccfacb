import type { TokenEndpointResponse } from 'openid-client';
import { SvcError } from '../../contracts/errors.ts';
import { tokens as shape, type Tokens } from './kept.ts';
import { scopeList } from './provider-metadata.ts';

export interface ReceivedTokens {
  readonly kept: Tokens;
  /** Null: the provider does not say. */
  readonly expiresAt: number | null;
  readonly scopes: readonly string[] | null;
}

const yearSeconds = 365 * 24 * 60 * 60;

/** The known fields of an answer of the token endpoint (RFC 6749 §5.1). */
export function parseTokens(
  answer: TokenEndpointResponse,
  parties: Omit<Tokens, 'accessToken' | 'refreshToken'> & { readonly refreshToken?: string | null },
): ReceivedTokens {
  const { url, resource, provider, client } = parties;
  const { access_token: accessToken, refresh_token: newOne, expires_in: seconds, scope, token_type: type } = answer;
  // RFC 6749 §6: without a new refresh token the old one stays.
  const refreshToken = newOne ?? parties.refreshToken ?? null;
  const kept = shape.safeParse({ url, resource, provider, client, accessToken, refreshToken });
  if (!kept.success || type.toLowerCase() !== 'bearer') {
    const { host } = new URL(provider.issuer);
    throw new SvcError('unavailable', `Authorization failed: the tokens of ${host} are too long, or of another type.`);
  }
  const granted = scopeList.safeParse(scope?.split(' ').filter((word) => word !== ''));
  return {
    kept: kept.data,
    expiresAt: seconds === undefined ? null : Date.now() + Math.min(Math.max(seconds, 0), yearSeconds) * 1000,
    scopes: granted.success ? granted.data : null,
  };
}

/** Two requests a minute at most, whatever lifetime a provider gives. */
const intervalMinMs = 30_000;

/** After four fifths of the lifetime. Without a refresh token: at its end. Null: never. */
export function nextRefreshAt({ kept, expiresAt }: ReceivedTokens): number | null {
  if (expiresAt === null) return null;
  if (kept.refreshToken === null) return expiresAt;
  const now = Date.now();
  return now + Math.max(intervalMinMs, Math.round((expiresAt - now) * 0.8));
}
