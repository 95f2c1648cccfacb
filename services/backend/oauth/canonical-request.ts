import { type AgentScope, readScope, toolsScope } from '../../contracts/token.ts';
import { clientMetadata } from './client-metadata.ts';

/**
 * Parameters of an authorization or token request, in the form that the authorization server compares. Clients leave
 * `resource` (RFC 8707) and `scope` out, or write them in ways of their own.
 */
export function canonicalParameters(given: URLSearchParams, mcpUrl: string): URLSearchParams {
  const parameters = new URLSearchParams(given);
  const resources = given.getAll('resource').map((resource) => canonicalResource(resource, mcpUrl));
  parameters.delete('resource');
  for (const resource of new Set(resources)) parameters.append('resource', resource);
  return parameters;
}

/** A client may ask for scopes of other servers; what it gets is in the answer (RFC 6749 §3.3). */
export function withScope(parameters: URLSearchParams): URLSearchParams {
  parameters.set('scope', scopeOf(parameters.get('scope') ?? ''));
  return parameters;
}

/** The widest scope of ours in the list. A client that names none of ours asks for all tools. */
export function scopeOf(list: string): AgentScope {
  const asked = list.split(' ');
  return asked.includes(readScope) && !asked.includes(toolsScope) ? readScope : toolsScope;
}

/** The URL of remote-mcp with a trailing slash or a query, or its origin alone, also means remote-mcp. */
function canonicalResource(resource: string, mcpUrl: string): string {
  const [given, own] = [URL.parse(resource), new URL(mcpUrl)];
  if (given === null || given.hash !== '' || given.origin !== own.origin) return resource;
  const path = withoutSlash(given.pathname);
  return path === '' || path === withoutSlash(own.pathname) ? mcpUrl : resource;
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, '');
}

export function canonicalRegistration(bytes: Buffer): Buffer {
  let document: unknown = null;
  try {
    document = JSON.parse(bytes.toString());
  } catch {
    // `clientMetadata` refuses it with the other wrong documents.
  }
  return Buffer.from(JSON.stringify(clientMetadata(document, { keepsId: false })));
}
