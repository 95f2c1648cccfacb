import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { WithConfig } from '../bus/with-bus.ts';

export type AddressConfig = WithConfig<'PUBLIC_BACKEND_URL'>;

export interface Cookie {
  readonly name: string;
  readonly attributes: string;
}

export interface CookieTraits {
  readonly use: string;
  readonly sameSite: 'Lax' | 'Strict';
}

/**
 * Scripts cannot read it (RFC 6265 §4.1). Cookies ignore ports, so the name tells apart the backends of one host. Over
 * https, other hosts of the domain cannot set it, because of the prefix of its name (RFC 6265bis §4.1.3).
 */
export function cookie({ config }: AddressConfig, { use, sameSite }: CookieTraits): Cookie {
  const address = config.PUBLIC_BACKEND_URL;
  const name = `svc-${createHash('sha256').update(address).digest('hex').slice(0, 8)}-${use}`;
  const isSecure = address.startsWith('https:');
  return {
    name: isSecure ? `__Host-${name}` : name,
    attributes: `Path=/; SameSite=${sameSite}; HttpOnly${isSecure ? '; Secure' : ''}`,
  };
}

/** The value of Set-Cookie. An age of 0 removes the cookie. */
export function writeCookie({ name, attributes }: Cookie, value: string, maxAgeSeconds: number): string {
  return `${name}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`;
}

export function readCookie({ cookie: sent = '' }: IncomingHttpHeaders, { name }: Cookie): string | undefined {
  for (const pair of sent.split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value !== undefined && value !== '') return value;
  }
  return undefined;
}
