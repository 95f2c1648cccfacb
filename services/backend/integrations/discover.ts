import { z } from 'zod';
import type { Challenge } from '../../contracts/bus/messages.ts';
import { SvcError } from '../../contracts/errors.ts';
import { AddressRefused } from '../../kit/addresses/address-refused.ts';
import type { GuardedFetch } from '../http/guarded-fetch.ts';
import { isWebAddress } from '../http/guarded-fetch.ts';
import { type Provider, provider, type Resource, resource, scopeList } from './provider-metadata.ts';

export interface Discovered {
  readonly provider: Provider;
  /** RFC 8707. */
  readonly resource: string;
  /** The scopes that the MCP server asks for. */
  readonly scopes: readonly string[];
}

/** Finds the authorization server of an MCP server (MCP 2025-11-25, "Authorization"). */
export async function discover(fetch: GuardedFetch, url: URL, challenge: Challenge): Promise<Discovered> {
  if (!isWebAddress(url)) {
    throw new SvcError('invalid_input', `The MCP server at ${url.host} has no https URL, so no token is sent to it.`, {
      hint: 'Change its URL to https.',
    });
  }
  const described = await findResource(fetch, url, challenge);
  const issuer = described?.authorization_servers[0] ?? url.origin;
  const claimed = scopesIn(challenge.scope);
  return {
    provider: await findProvider(fetch, issuer, url.host),
    resource: described?.resource ?? withoutFragment(url),
    // The challenge names what this MCP server needs, the metadata all that exist.
    scopes: claimed.length > 0 ? claimed : (described?.scopes_supported ?? []),
  };
}

/** Null: an MCP server of an older revision is its own authorization server. */
async function findResource(fetch: GuardedFetch, url: URL, challenge: Challenge): Promise<Resource | null> {
  const { resourceMetadata: named } = challenge;
  const path = url.pathname === '/' ? '' : url.pathname;
  // RFC 9728 §3.1: the path form, then the root form.
  const wellKnown = [
    `${wellKnownAt(url)}oauth-protected-resource${path}`,
    `${wellKnownAt(url)}oauth-protected-resource`,
  ];
  for (const address of [...(named !== undefined && isAddress(named) ? [named] : []), ...wellKnown]) {
    const found = await getDocument(fetch, address, resource, url.host);
    if (found === null) continue;
    if (isOf(found.resource, url)) return found;
    throw new SvcError('unavailable', `Authorization failed: the metadata of ${url.host} describes another resource.`, {
      hint: 'Correct the metadata of the MCP server, or its URL.',
    });
  }
  return null;
}

/** RFC 9728 §3.3: metadata of another resource must not be used. A resource may be a folder above the URL. */
function isOf(named: string, url: URL): boolean {
  if (!URL.canParse(named)) return false;
  const { origin, pathname } = new URL(named);
  const folder = pathname.replace(/\/$/, '');
  return origin === url.origin && (url.pathname === folder || url.pathname.startsWith(`${folder}/`));
}

async function findProvider(fetch: GuardedFetch, issuer: string, host: string): Promise<Provider> {
  const url = new URL(issuer);
  const path = url.pathname.replace(/\/$/, '');
  // RFC 8414 §3.1, then OpenID Connect Discovery 1.0 §4.
  const addresses = [
    `${wellKnownAt(url)}oauth-authorization-server${path}`,
    `${wellKnownAt(url)}openid-configuration${path}`,
    ...(path === '' ? [] : [`${url.origin}${path}/.well-known/openid-configuration`]),
  ];
  for (const address of addresses) {
    const found = await getDocument(fetch, address, provider, url.host);
    if (found === null) continue;
    if (withoutSlash(found.issuer) !== withoutSlash(issuer)) {
      throw new SvcError('unavailable', `Authorization failed: ${url.host} names another issuer in its metadata.`, {
        hint: 'Correct the metadata of the authorization server.',
      });
    }
    if (!found.code_challenge_methods_supported.includes('S256')) {
      throw new SvcError('unsupported', `The authorization server ${url.host} does not support PKCE with S256.`);
    }
    return found;
  }
  throw new SvcError('unavailable', `The authorization server of ${host} was not found at ${url.host}.`, {
    hint: 'The MCP server must publish its metadata: /.well-known/oauth-protected-resource (RFC 9728).',
  });
}

/** Null where no such document is. */
async function getDocument<Shape>(
  fetch: GuardedFetch,
  address: string,
  shape: z.ZodType<Shape>,
  host: string,
): Promise<Shape | null> {
  const { host: at } = new URL(address);
  const response = await fetch(address, {
    ...{ method: 'GET', headers: { accept: 'application/json' }, body: null, redirect: 'manual' },
  }).catch((error: unknown) => {
    throw notReached(at, error);
  });
  if (response.status !== 200) return null;
  const document: unknown = await response.json().catch(() => null);
  const parsed = shape.safeParse(document);
  if (parsed.success) return parsed.data;
  // A web application answers every path with its page.
  if (!z.looseObject({}).safeParse(document).success) return null;
  const field = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new SvcError('unavailable', `The metadata of ${at} for ${host} is not valid: its field "${field}".`);
}

/** The cause stays in the log: it names addresses of the network. */
export function notReached(host: string, cause: unknown): SvcError {
  const refused = cause instanceof AddressRefused;
  const message = refused
    ? `Authorization failed: the address leads to ${cause.what}.`
    : `Authorization failed: ${host} could not be reached.`;
  const hint = refused
    ? 'An operator can allow the address with runtime.allowedAddresses in svc.yaml.'
    : 'Try again later.';
  return new SvcError(refused ? 'forbidden' : 'unavailable', message, { hint, cause });
}

function scopesIn(text = ''): readonly string[] {
  const parsed = scopeList.safeParse([...new Set(text.split(' ').filter((word) => word !== ''))]);
  return parsed.success ? parsed.data : [];
}

function isAddress(text: string): boolean {
  return URL.canParse(text) && isWebAddress(new URL(text));
}

function wellKnownAt({ origin }: URL): string {
  return `${origin}/.well-known/`;
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, '');
}

/** RFC 8707 §2. */
function withoutFragment(url: URL): string {
  const other = new URL(url);
  other.hash = '';
  return other.href;
}
