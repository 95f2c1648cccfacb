import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Browser } from '../../backend/test/browser.ts';
import { OauthClient, rememberingProvider, signIn, startPublicPlatform } from './oauth.ts';
import type { Platform } from './platform.ts';
import { result, tool } from './runtime.ts';
import { TestWorkspace } from './workspace.ts';

/**
 * Clients that people have, as their authors describe them: how each one names itself, and where its browser goes back
 * to. The SDK plays them, with the metadata document that each one publishes.
 */
interface KnownClient {
  readonly name: string;
  readonly redirect: string;
  /** Its metadata document; null for a client that registers. */
  readonly document: string | null;
  readonly more?: object;
  /** Where the page of the consent says that the browser goes. */
  readonly shown: string;
}

const known: readonly KnownClient[] = [
  {
    name: 'Claude',
    redirect: 'https://claude.ai/api/mcp/auth_callback',
    document: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
    shown: 'claude.ai',
  },
  {
    name: 'Claude Code',
    // Its document names no port, and it listens on another one each time (RFC 8252 §7.3).
    redirect: 'http://localhost:49152/callback',
    document: 'https://claude.ai/oauth/claude-code-client-metadata',
    more: { redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'] },
    shown: 'localhost:49152',
  },
  {
    name: 'Visual Studio Code',
    redirect: 'http://127.0.0.1:33418/',
    document: 'https://vscode.dev/oauth/client-metadata.json',
    more: { redirect_uris: ['http://127.0.0.1/', 'https://vscode.dev/redirect'] },
    shown: '127.0.0.1:33418',
  },
  {
    name: 'ChatGPT',
    redirect: 'https://chatgpt.com/connector/oauth/a1b2c3',
    document: 'https://chatgpt.com/oauth/a1b2c3/client.json',
    // It prefers a way to prove itself that is not offered here.
    more: {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
    },
    shown: 'chatgpt.com',
  },
  {
    name: 'Cursor',
    redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
    document: null,
    more: { scope: 'mcp' },
    shown: 'cursor://anysphere.cursor-mcp',
  },
];

let platform: Platform;
let workspace: TestWorkspace;
let person: Browser;
let documents: Server;
const folder = mkdtempSync(join(tmpdir(), 'svc-known-clients-'));

beforeAll(async () => {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string];
  const names = 'subjectAltName=DNS:claude.ai,DNS:chatgpt.com,DNS:vscode.dev';
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const subject = ['-subj', '/CN=documents', '-addext', names];
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  documents = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, ({ url, headers }, response) => {
    const found = known.find(({ document }) => document === `https://${headers.host}${url}`);
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(found === undefined ? '{}' : JSON.stringify(metadataOf(found)));
  }).listen(0, '127.0.0.1');
  await once(documents, 'listening');
  const { port } = documents.address() as AddressInfo;
  // These hosts of the Internet are this server.
  const connect = tls.connect;
  const ca = readFileSync(cert, 'utf8');
  vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions, ...rest: never[]) => {
    const isTheirs = ['claude.ai', 'chatgpt.com', 'vscode.dev'].includes(options.host ?? '');
    const { lookup: _, ...others } = options as tls.ConnectionOptions & { readonly lookup?: unknown };
    return connect(isTheirs ? { ...others, host: '127.0.0.1', port, ca, servername: options.host } : options, ...rest);
  }) as typeof tls.connect);
  platform = await startPublicPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.mcpServer('files', [tool('echo')]);
  await workspace.role('All', [await workspace.skill('all', ['files/echo'])]);
  platform.runtime.answer(async ({ params }) => result({ content: [{ type: 'text', text: params.arguments.text }] }));
  person = await signIn(platform, 'acme@example.com');
});
afterAll(async () => {
  vi.restoreAllMocks();
  documents.closeAllConnections();
  documents.close();
  rmSync(folder, { recursive: true });
  await platform.stop();
});

function metadataOf({ name, redirect, document, more }: KnownClient) {
  return {
    ...(document === null ? {} : { client_id: document }),
    ...{ client_name: name, redirect_uris: [redirect] },
    ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
    token_endpoint_auth_method: 'none',
    ...more,
  };
}

test.each(known)('$name signs in, calls a tool and renews its token', async (one) => {
  const { saved, authProvider } = rememberingProvider();
  Object.assign(authProvider, {
    redirectUrl: one.redirect,
    clientMetadata: metadataOf(one),
    ...(one.document === null ? {} : { clientMetadataUrl: one.document }),
  });
  const open = () => new StreamableHTTPClientTransport(new URL(platform.mcpUrl), { authProvider });
  const first = open();
  await expect(new Client({ name: one.name, version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
  expect(saved.client).toMatchObject(one.document === null ? {} : { client_id: one.document });

  const { pathname, search } = saved.to ?? expect.fail('there is no address for the person');
  const { location } = await person.get(pathname + search);
  const uid = new URL(location).pathname.split('/').at(-1) ?? '';
  const { body } = await person.post(`/connect/interaction/${uid}`, {});
  expect(body.client).toMatchObject({ name: one.name, redirectHost: one.shown });
  const { back } = await new OauthClient(platform.backendUrl, '').consent(person, uid, { workspace: workspace.id });
  expect(back.href.startsWith(`${one.redirect}?`)).toBe(true);
  await first.finishAuth(back.searchParams);

  const agent = new Client({ name: one.name, version: '1' });
  await agent.connect(open());
  const call = { name: 'call_tool', arguments: { name: 'echo', arguments: { text: 'hi' } } };
  expect((await agent.callTool(call)).content).toEqual([{ type: 'text', text: 'hi' }]);
  await agent.close();

  const { refresh_token: refresh = '' } = (saved.tokens ?? {}) as { refresh_token?: string };
  const { client_id: id } = saved.client as { client_id: string };
  const renewed = await new OauthClient(platform.backendUrl, id).refresh(refresh);
  expect([renewed.status, renewed.body]).toMatchObject([200, { access_token: expect.any(String) }]);
});

test.each(known)('no other address gets the code of $name', async (one) => {
  const id = one.document ?? (await register(one));
  for (const redirect_uri of ['https://evil.example/callback', `${one.redirect}/..`, `${one.redirect}.evil.example`]) {
    const { status, location } = await new OauthClient(platform.backendUrl, id).authorize(person, { redirect_uri });
    expect([redirect_uri, status, location]).toEqual([redirect_uri, 400, null]);
  }
});

async function register(one: KnownClient): Promise<string> {
  return (await OauthClient.register(platform.backendUrl, metadataOf(one))).id;
}
