import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SignJWT } from 'jose';
import { accountPath, sessionClaim, tokenAudience, tokenKindClaim } from '../../contracts/token.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import type { Node } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { SigningKeys } from '../tokens/signing-keys.ts';
import { refreshTokenOf } from './browser-sessions.ts';

type AddressConfig = WithConfig<'PUBLIC_BACKEND_URL'>;
type CookieNeeds = WithSecrets &
  WithConfig<'PUBLIC_BACKEND_URL' | 'JWT_ISSUER' | 'JWT_ACCESS_TOKEN_TTL' | 'JWT_REFRESH_TOKEN_TTL'> & {
    readonly signingKeys: SigningKeys;
  };

/** The two cookies of a session, as values of Set-Cookie (RFC 6265 §4.1). Scripts cannot read them. */
export async function cookiesOf(backend: CookieNeeds, session: Node<'browserSession'>): Promise<readonly string[]> {
  const { JWT_ACCESS_TOKEN_TTL: accessSeconds, JWT_REFRESH_TOKEN_TTL: refreshSeconds } = backend.config;
  return [
    write(access(backend), await accessTokenOf(backend, session), accessSeconds),
    write(refresh(backend), refreshTokenOf(backend, session), refreshSeconds),
  ];
}

export function clearedCookies(backend: AddressConfig): readonly string[] {
  return [write(access(backend), '', 0), write(refresh(backend), '', 0)];
}

export function accessTokenIn(backend: AddressConfig, headers: IncomingHttpHeaders): string | undefined {
  return valueIn(headers, access(backend).name);
}

export function refreshTokenIn(backend: AddressConfig, headers: IncomingHttpHeaders): string | undefined {
  return valueIn(headers, refresh(backend).name);
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

interface Cookie {
  readonly name: string;
  readonly attributes: string;
}

/** Sent with every request to the backend. Lax, because an agent's sign-in begins with a link from another site. */
function access(backend: AddressConfig): Cookie {
  return cookie(backend, { use: 'access', secure: '__Host-', attributes: 'Path=/; SameSite=Lax' });
}

/** Sent only where it is used. */
function refresh(backend: AddressConfig): Cookie {
  return cookie(backend, { use: 'refresh', secure: '__Secure-', attributes: `Path=${accountPath}; SameSite=Strict` });
}

interface CookieTraits {
  readonly use: string;
  /** Prefix of the name over https (RFC 6265bis §4.1.3): other hosts of the domain cannot set the cookie. */
  readonly secure: string;
  readonly attributes: string;
}

/** Cookies ignore ports, so the name tells apart the backends of one host. */
function cookie({ config }: AddressConfig, { use, secure, attributes }: CookieTraits): Cookie {
  const address = config.PUBLIC_BACKEND_URL;
  const name = `svc-${createHash('sha256').update(address).digest('hex').slice(0, 8)}-${use}`;
  const isSecure = address.startsWith('https:');
  return {
    name: isSecure ? `${secure}${name}` : name,
    attributes: `${attributes}; HttpOnly${isSecure ? '; Secure' : ''}`,
  };
}

function write({ name, attributes }: Cookie, value: string, maxAgeSeconds: number): string {
  return `${name}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`;
}

function valueIn({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  for (const pair of cookie.split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value !== undefined && value !== '') return value;
  }
  return undefined;
}
