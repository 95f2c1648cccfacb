import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { visitAsBrowser } from './visit-as-browser.ts';

/** An MCP server that admits the tokens of a real authorization server, which its metadata name; both on their own ports. */
export interface ProtectedMcpServer {
  /** The URL of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  readonly host: string;
  /** Requests that the authorization server got, as "METHOD path". */
  readonly asked: string[];
  /** Replaces fields of the metadata of the MCP server. */
  metadata: Record<string, unknown>;
  /** The status of every answer of the token endpoint; null: its own. */
  tokenStatus: number | null;
  /** The error of such an answer (RFC 6749 §5.2). */
  tokenError: string;
  /** The tokens of the calls of its tool, oldest first. */
  readonly callTokens: string[];
  /** Seconds. */
  lifetime: number;
  /** Whether the person refuses. */
  isRefused: boolean;
  /** Goes there as a browser. Returns the query that the browser is sent back with. */
  visit(address: string): Promise<string>;
  /** Whether the authorization server knows the token. */
  knows(accessToken: string): Promise<boolean>;
  stop(): Promise<void>;
}

export async function startProtectedMcpServer(options: {
  readonly redirectUri: string;
  readonly registers?: boolean;
}): Promise<ProtectedMcpServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resourceServer = createServer((request, response) => {
    if (request.url === '/mcp') return void answerMcp(request, response);
    if (request.url !== '/.well-known/oauth-protected-resource/mcp') return void response.writeHead(404).end();
    const document = { resource: running.url, authorization_servers: [issuer], ...running.metadata };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  resourceServer.listen(0, '127.0.0.1');
  await once(resourceServer, 'listening');
  const host = `127.0.0.1:${(resourceServer.address() as AddressInfo).port}`;
  const { redirectUri, registers = true } = options;
  const provider = new Provider(issuer, {
    clients: [
      { client_id: 'own', client_secret: 'own-secret-8c21', redirect_uris: [redirectUri] },
      { client_id: 'of-another-platform', client_secret: 'its-secret-51bb', redirect_uris: ['https://a.example/cb'] },
    ],
    cookies: { keys: ['test'] },
    scopes: ['offline_access'],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: registers },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          ...{ scope: 'files:read files:write', accessTokenFormat: 'opaque' },
          accessTokenTTL: running.lifetime,
        }),
      },
    },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    pkce: { required: () => true },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    async loadExistingGrant(context) {
      const { client, session, params } = context.oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new context.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid offline_access');
      grant.addResourceScope(String(params?.resource), 'files:read files:write');
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    asked.push(`${request.method} ${request.url?.split('?')[0]}`);
    if (request.url === '/token' && running.tokenStatus !== null) {
      return void response
        .writeHead(running.tokenStatus, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: running.tokenError }));
    }
    if (!request.url?.startsWith('/interaction/')) return void (await handle(request, response));
    const result = running.isRefused ? { error: 'access_denied' } : { login: { accountId: 'ada', remember: false } };
    await provider.interactionFinished(request, response, result);
  }
  async function answerMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    if (!(await running.knows(token))) {
      const challenge = `Bearer resource_metadata="http://${host}/.well-known/oauth-protected-resource/mcp", scope="files:read"`;
      return void response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    let body = '';
    for await (const piece of request) body += piece;
    if (body === '') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(body);
    if (method === 'tools/call') running.callTokens.push(token);
    if (id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: mcpResults[method] ?? {} }));
  }
  const running: ProtectedMcpServer = {
    ...{
      url: `http://${host}/mcp`,
      issuer,
      host,
      asked,
      metadata: {},
      tokenStatus: null,
      tokenError: 'server_error',
      callTokens: [],
      lifetime: 600,
      isRefused: false,
    },
    visit: async (address) => (await visitAsBrowser(issuer, address)).search.slice(1),
    knows: async (accessToken) => (await provider.AccessToken.find(accessToken)) !== undefined,
    async stop() {
      for (const one of [server, resourceServer]) {
        one.closeAllConnections();
        one.close();
        await once(one, 'close');
      }
    },
  };
  return running;
}

/** An MCP server with one tool, over Streamable HTTP without sessions. */
const mcpResults: Readonly<Record<string, unknown>> = {
  initialize: {
    ...{ protocolVersion: '2025-11-25', capabilities: { tools: {} } },
    serverInfo: { name: 'crm', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'ada' }] },
};
