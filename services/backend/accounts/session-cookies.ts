import type { IncomingHttpHeaders } from 'node:http';
import { SignJWT } from 'jose';
import { sessionClaim, tokenAudience, tokenKindClaim } from '../../contracts/token.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import type { Node } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { SigningKeys } from '../tokens/signing-keys.ts';
import { refreshTokenOf } from './browser-sessions.ts';
import { type AddressConfig, type Cookie, cookie, readCookie, writeCookie } from './cookies.ts';

type CookieNeeds = WithSecrets &
  WithConfig<'PUBLIC_BACKEND_URL' | 'JWT_ISSUER' | 'JWT_ACCESS_TOKEN_TTL' | 'JWT_REFRESH_TOKEN_TTL'> & {
    readonly signingKeys: SigningKeys;
  };

/** The two cookies of a session, as values of Set-Cookie (RFC 6265 §4.1). Scripts cannot read them. */
export async function cookiesOf(backend: CookieNeeds, session: Node<'browserSession'>): Promise<readonly string[]> {
  const { JWT_ACCESS_TOKEN_TTL: accessSeconds, JWT_REFRESH_TOKEN_TTL: refreshSeconds } = backend.config;
  return [
    writeCookie(access(backend), await accessTokenOf(backend, session), accessSeconds),
    writeCookie(refresh(backend), refreshTokenOf(backend, session), refreshSeconds),
  ];
}

export function clearedCookies(backend: AddressConfig): readonly string[] {
  return [writeCookie(access(backend), '', 0), writeCookie(refresh(backend), '', 0)];
}

export function accessTokenIn(backend: AddressConfig, headers: IncomingHttpHeaders): string | undefined {
  return readCookie(headers, access(backend));
}

export function refreshTokenIn(backend: AddressConfig, headers: IncomingHttpHeaders): string | undefined {
  return readCookie(headers, refresh(backend));
}

async function accessTokenOf({ config, signingKeys }: CookieNeeds, { id, user }: Node<'browserSession'>) {
  return await new SignJWT({ [tokenKindClaim]: 'session', [sessionClaim]: id })
    .setProtectedHeader({ alg: 'EdDSA', kid: signingKeys.verifying[0]?.kid ?? '' })
    .setIssuer(config.JWT_ISSUER)
    .setAudience(tokenAudience)
    .setSubject(user)
    .setExpirationTime(new Date(Date.now() + config.JWT_ACCESS_TOKEN_TTL * 1000))
    .sign(signingKeys.privateKey);
}

/** Sent with every request to the backend. Lax, because an agent's sign-in begins with a link from another site. */
function access(backend: AddressConfig): Cookie {
  return cookie(backend, { use: 'access', sameSite: 'Lax' });
}

function refresh(backend: AddressConfig): Cookie {
  return cookie(backend, { use: 'refresh', sameSite: 'Strict' });
}
