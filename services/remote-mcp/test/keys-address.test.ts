import { once } from 'node:events';
import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser } from '../../backend/test/browser.ts';
import { freePort, OauthClient, rememberingProvider, signIn, startPublicPlatform } from './oauth.ts';
import type { Platform } from './platform.ts';
import { ping, send } from './raw.ts';
import { TestWorkspace } from './workspace.ts';

/** One listener with two names: localhost for keys, and 127.0.0.1 for OAuth and keys. */
let platform: Platform;
let workspace: TestWorkspace;
let person: Browser;
let keysUrl: string;
let key: string;

beforeAll(async () => {
  const port = await freePort();
  keysUrl = `http://localhost:${port}/mcp`;
  const PUBLIC_MCP_URL = `http://127.0.0.1:${port}/mcp`;
  platform = await startPublicPlatform(
    { PUBLIC_MCP_URL },
    { PUBLIC_MCP_URL, PUBLIC_MCP_KEYS_URL: keysUrl, REMOTE_PORT: String(port) },
  );
  workspace = await TestWorkspace.create(platform, 'acme');
  key = (await workspace.key('agent')).text;
  person = await signIn(platform, 'acme@example.com');
});
afterAll(() => platform.stop());

/** Where clients look for OAuth: beside the path, and at the root of the host. */
const discovery = [
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-authorization-server/mcp',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
];

describe('the address for keys alone', () => {
  test('shows no address of OAuth, to no method and at no place where clients look', async () => {
    for (const path of discovery) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const { status, headers } = await fetch(new URL(path, keysUrl), { method });
        expect([method, path, status, headers.get('location')]).toEqual([method, path, 404, null]);
      }
    }
    const other = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', platform.mcpUrl));
    expect([other.status, await other.json()]).toMatchObject([200, { resource: platform.mcpUrl }]);
  });

  test('refuses a missing and a wrong key without saying where to sign in', async () => {
    const challengeAt = async (url: string, shown: { readonly key?: string }) => {
      const { status, headers } = await send(url, { ...shown, body: ping });
      return [status, headers.get('www-authenticate')];
    };
    expect(await challengeAt(keysUrl, {})).toEqual([401, 'Bearer realm="API keys"']);
    expect(await challengeAt(keysUrl, { key: 'SVA_wrong' })).toEqual([
      401,
      'Bearer realm="API keys", error="invalid_token"',
    ]);
    expect(await challengeAt(platform.mcpUrl, {})).toEqual([401, expect.stringContaining('resource_metadata=')]);
  });

  test('accepts the keys that the other address accepts', async () => {
    for (const url of [keysUrl, platform.mcpUrl]) expect((await send(url, { key, body: ping })).status).toBe(200);
  });

  test('refuses the token of an agent, which the other address accepts, and says where it works', async () => {
    const { access_token: token } = await (await OauthClient.register(platform.backendUrl)).connect(
      person,
      workspace.id,
    );
    expect((await send(platform.mcpUrl, { key: token, body: ping })).status).toBe(200);
    const { status, body } = await send(keysUrl, { key: token, body: ping });
    expect([status, body.error.message, body.error.data.hint]).toEqual([
      401,
      'This address accepts API keys only, and the request carries a token.',
      `Agents that sign in by OAuth connect to ${platform.mcpUrl}.`,
    ]);
  });

  test('refuses the tokens of a program with a key, and of a person who tries tools', async () => {
    const { id, text } = await workspace.key('program');
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: text };
    const exchanged = await fetch(`${platform.backendUrl}/connect/token`, {
      method: 'POST',
      headers: { 'content-length': String(new URLSearchParams(form).toString().length) },
      body: new URLSearchParams(form),
    });
    const mutation = 'mutation ($w: ID!) { createToolToken(workspace: $w) { token } }';
    const trying = await platform.must(mutation, { w: workspace.id });
    for (const token of [(await exchanged.json()).access_token, trying.createToolToken.token]) {
      expect((await send(platform.mcpUrl, { key: token, body: ping })).status).toBe(200);
      expect((await send(keysUrl, { key: token, body: ping })).status).toBe(401);
    }
  });

  test('opens nothing under a name that looks like it or like another', async () => {
    const { host, port } = new URL(keysUrl);
    const names = ['evil.example', 'localhost', `localhost.:${port}`, `${host}@evil.example`, `evil.example@${host}`];
    for (const name of [...names, `${host}, evil.example`, `${host}#`, `[::1]:${port}`, '']) {
      const asked = async (token: string | null) => {
        const headers = { host: name, ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
        const [{ statusCode, headers: got }] = await once(
          request(keysUrl, { method: 'POST', headers }).end(),
          'response',
        );
        return [name, statusCode, /evil/.test(JSON.stringify(got))];
      };
      for (const token of [null, 'SVA_wrong', `${key}x`]) expect(await asked(token)).toEqual([name, 401, false]);
    }
  });

  test('is known by its name in capitals too', async () => {
    const host = new URL(keysUrl).host.toUpperCase();
    const [{ statusCode, headers }] = await once(request(platform.mcpUrl, { headers: { host } }).end(), 'response');
    expect([statusCode, headers['www-authenticate']]).toEqual([401, 'Bearer realm="API keys"']);
  });

  test('sends a client of MCP with a refused key to no sign-in', async () => {
    const { saved, authProvider } = rememberingProvider();
    const agent = new Client({ name: 'test', version: '1' });
    const connected = agent.connect(new StreamableHTTPClientTransport(new URL(keysUrl), { authProvider }));
    await expect(connected).rejects.toThrow(/There is no sign-in here/);
    expect([saved.client, saved.to]).toEqual([undefined, undefined]);
  });
});
