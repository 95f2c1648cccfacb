import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Addresses of one attack. */
export interface AttackPlaces {
  /** The URL of the MCP server. */
  readonly url: string;
  /** The issuer of the authorization server. */
  readonly issuer: string;
  /** An address of this machine that nobody may reach. */
  readonly forbidden: string;
}

export type Answering = (response: ServerResponse, request: IncomingMessage) => unknown;

/** Where an attack differs from a valid MCP server and a valid authorization server. */
export interface Lies {
  /** Replaces the address of the metadata in the challenge. */
  readonly challenge?: (places: AttackPlaces) => string;
  /** Replaces fields of the metadata of the MCP server. */
  readonly resource?: (places: AttackPlaces) => object;
  /** Answers requests for the metadata of the MCP server. */
  readonly metadata?: Answering;
  /** Replaces fields of the metadata of the authorization server. */
  readonly provider?: (places: AttackPlaces) => object;
  /** Answers requests for tokens. */
  readonly token?: Answering;
  /** Answers messages that carry a token. */
  readonly mcp?: (response: ServerResponse, authorization: string) => unknown;
}

export const sendJson = (response: ServerResponse, body: unknown, status = 200) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/**
 * An MCP server and its authorization server in one process, for each attack at its own path. A second listener counts
 * the requests at an address that the platform must never reach.
 */
export async function startHostileProvider(attacks: Readonly<Record<string, Lies>>) {
  const reached: string[] = [];
  const forbidden = createServer((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    sendJson(response, {});
  });
  forbidden.listen(0, '::1');
  const asked: string[] = [];
  const server = createServer(
    (request, response) => void answer(request, response).catch(() => void response.destroy()),
  );
  server.listen(0, '127.0.0.1');
  await Promise.all([once(forbidden, 'listening'), once(server, 'listening')]);
  const portOf = (one: typeof server) => (one.address() as AddressInfo).port;
  const origin = `http://127.0.0.1:${portOf(server)}`;

  function placesOf(name: string): AttackPlaces {
    const issuer = `${origin}/${name}`;
    return { url: `${issuer}/mcp`, issuer, forbidden: `http://[::1]:${portOf(forbidden)}` };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const path = request.url?.split('?')[0] ?? '';
    const [, name = '', use = ''] =
      /^\/\.well-known\/oauth-(?:protected-resource|authorization-server)\/([\w-]+)(\/mcp)?$/.exec(path) ??
      /^\/([\w-]+)\/(\w+)$/.exec(path) ??
      [];
    const lies = attacks[name];
    if (lies === undefined) return sendJson(response, {}, 404);
    asked.push(`${request.method} ${path}`);
    const places = placesOf(name);
    if (path.startsWith('/.well-known/oauth-protected-resource')) {
      if (lies.metadata !== undefined) return lies.metadata(response, request);
      const document = { resource: places.url, authorization_servers: [places.issuer] };
      return sendJson(response, { ...document, ...lies.resource?.(places) });
    }
    if (path.startsWith('/.well-known/')) {
      const at = (what: string) => `${places.issuer}/${what}`;
      return sendJson(response, {
        ...{ issuer: places.issuer, authorization_endpoint: at('authorize'), token_endpoint: at('token') },
        ...{ registration_endpoint: at('register'), revocation_endpoint: at('revoke') },
        ...{ code_challenge_methods_supported: ['S256'], authorization_response_iss_parameter_supported: true },
        ...lies.provider?.(places),
      });
    }
    await text(request);
    if (use === 'register') return sendJson(response, { client_id: `client-of-${name}` }, 201);
    if (use === 'token') return lies.token === undefined ? sendJson(response, {}, 500) : lies.token(response, request);
    return answerMcp(response, { lies, places, authorization: request.headers.authorization });
  }

  return {
    reached,
    asked,
    placesOf,
    close() {
      for (const one of [server, forbidden]) {
        one.closeAllConnections();
        one.close();
      }
    },
  };
}

interface AskedMcp {
  readonly lies: Lies;
  readonly places: AttackPlaces;
  readonly authorization: string | undefined;
}

function answerMcp(response: ServerResponse, { lies, places, authorization }: AskedMcp): unknown {
  if (authorization !== undefined && lies.mcp !== undefined) return lies.mcp(response, authorization);
  const { origin, pathname } = new URL(places.url);
  const metadata = lies.challenge?.(places) ?? `${origin}/.well-known/oauth-protected-resource${pathname}`;
  const challenge = `Bearer resource_metadata="${metadata}", scope="files:read"`;
  return response.writeHead(401, { 'www-authenticate': challenge }).end();
}
