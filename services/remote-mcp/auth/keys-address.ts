import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../contracts/errors.ts';
import { parseKey } from '../../contracts/keys.ts';
import { bearerToken } from './bearer-token.ts';

interface Addresses {
  readonly PUBLIC_MCP_URL: string;
  readonly PUBLIC_MCP_KEYS_URL: string | undefined;
}

/**
 * The address for API keys alone. Some clients ignore a configured key where they find an address of OAuth, and they
 * look at the root of the host too. So it has a host or port of its own, and no metadata.
 */
export class KeysAddress {
  readonly #hosts: ReadonlySet<string>;
  readonly #oauthUrl: string;

  constructor({ PUBLIC_MCP_URL, PUBLIC_MCP_KEYS_URL }: Addresses) {
    this.#hosts = PUBLIC_MCP_KEYS_URL === undefined ? new Set() : hostHeadersOf(PUBLIC_MCP_KEYS_URL);
    this.#oauthUrl = PUBLIC_MCP_URL;
  }

  /** A client that sends another Host header gains nothing: both addresses accept the same keys. */
  has({ headers: { host } }: IncomingMessage): boolean {
    return this.#hosts.size > 0 && host !== undefined && this.#hosts.has(host.toLowerCase());
  }

  /** A token here would be that of a client which found another address of OAuth than it was given. */
  refuseToken(authorization: string | undefined): void {
    const parsed = parseKey(bearerToken(authorization));
    if (!parsed.ok || parsed.kind !== 'token') return;
    throw new SvcError('unauthenticated', 'This address accepts API keys only, and the request carries a token.', {
      hint: `Agents that sign in by OAuth connect to ${this.#oauthUrl}.`,
    });
  }
}

/** WWW-Authenticate of a 401 there. Without `resource_metadata` a client has no address to sign in at. */
export function keysChallengeOf(authorization: string | undefined): string {
  return `Bearer realm="API keys"${authorization === undefined ? '' : ', error="invalid_token"'}`;
}

/** A client may send the usual port of the scheme (RFC 9110, 7.2), which `URL` leaves out. */
function hostHeadersOf(url: string): ReadonlySet<string> {
  const { host, port, protocol } = new URL(url);
  return new Set(port === '' ? [host, `${host}:${protocol === 'https:' ? 443 : 80}`] : [host]);
}
