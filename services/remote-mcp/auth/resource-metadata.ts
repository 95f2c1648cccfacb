import type { IncomingMessage, ServerResponse } from 'node:http';
import { agentScopes, toolsScope } from '../../contracts/token.ts';

const wellKnown = '/.well-known/oauth-protected-resource';
const cacheSeconds = 300;

export interface PublicAddresses {
  readonly PUBLIC_MCP_URL: string;
  readonly PUBLIC_BACKEND_URL: string;
}

/**
 * WWW-Authenticate of a 401 (RFC 6750 §3, RFC 9728 §5.1). The address is absolute, because clients ignore a relative
 * one. Only a refused token is an error; a client without a token asks how to get one.
 */
export function challengeOf(config: PublicAddresses, authorization: string | undefined): string {
  return challenge(config, authorization === undefined ? '' : 'error="invalid_token", ');
}

/** WWW-Authenticate of a 403 that a wider scope would answer (RFC 6750 §3.1; MCP 2025-11-25, "Scope Challenge Handling"). */
export function stepUpChallengeOf(config: PublicAddresses): string {
  return challenge(config, 'error="insufficient_scope", ');
}

function challenge(config: PublicAddresses, error: string): string {
  const { origin, pathname } = new URL(config.PUBLIC_MCP_URL);
  const metadata = `${origin}${wellKnown}${pathname === '/' ? '' : pathname}`;
  return `Bearer ${error}resource_metadata="${metadata}", scope="${toolsScope}"`;
}

/**
 * Answers RFC 9728 §3 at the path of `/mcp` and at the root, for clients that know only one of them. Pages of any origin
 * may read it. False for another path.
 */
export function answerMetadata(config: PublicAddresses, request: IncomingMessage, response: ServerResponse): boolean {
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (path !== wellKnown && path !== `${wellKnown}${new URL(config.PUBLIC_MCP_URL).pathname}`) return false;
  const { method } = request;
  if (method === 'OPTIONS') response.writeHead(204, [...open, ...preflight]).end();
  else if (method !== 'GET' && method !== 'HEAD') response.writeHead(405, ['allow', 'GET, HEAD, OPTIONS']).end();
  else {
    const text = JSON.stringify({
      resource: config.PUBLIC_MCP_URL,
      authorization_servers: [config.PUBLIC_BACKEND_URL],
      scopes_supported: agentScopes,
      bearer_methods_supported: ['header'],
    });
    response.writeHead(200, [
      ...['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))],
      ...['cache-control', `public, max-age=${cacheSeconds}`, 'x-content-type-options', 'nosniff'],
      ...open,
    ]);
    response.end(method === 'HEAD' ? undefined : text);
  }
  return true;
}

const open = ['access-control-allow-origin', '*'];
/** Clients send the revision of MCP with it (2025-11-25, "Authorization Server Metadata Discovery"). */
const preflight = ['access-control-allow-methods', 'GET', 'access-control-allow-headers', 'mcp-protocol-version'];
