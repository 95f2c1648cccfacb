import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as ask, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { decodeProtectedHeader } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { startBackend } from '../../backend/start.ts';
import { Browser } from '../../backend/test/browser.ts';
import { freePort, OauthClient, rememberingProvider, signIn, startPublicPlatform } from './oauth.ts';
import type { Platform } from './platform.ts';
import { TestWorkspace } from './workspace.ts';

function ping(mcpUrl: string, token: string) {
  return fetch(mcpUrl, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
}

async function another(platform: Platform) {
  const env = { BUS_SERVERS: 'inproc:', ...platform.variables.backend, PORT: '0' };
  return await startBackend(env, { hub: platform.hub, version: '1.2.3', log: { write: () => undefined } });
}

test('of two backends, one gives tokens for a code, and either ends the agent of a code that is used twice', async () => {
  const platform = await startPublicPlatform();
  onTestFinished(() => platform.stop());
  const second = await another(platform);
  onTestFinished(() => second.stop());
  const workspace = await TestWorkspace.create(platform, 'acme');
  const person = await signIn(platform, 'acme@example.com');
  const client = await OauthClient.register(platform.backendUrl);
  const other = new OauthClient(second.url ?? '', client.id);
  const own = { code_verifier: client.verifier };
  const codeOf = async () => {
    const { uid } = await client.authorize(person);
    return (await client.consent(person, uid, { workspace: workspace.id })).code;
  };
  for (let round = 0; round < 5; round++) {
    const code = await codeOf();
    const answers = await Promise.all([client.exchange(code), other.exchange(code, own)]);
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const { body } of answers.filter(({ status }) => status !== 200)) expect(body.error).toBe('invalid_grant');
  }
  const code = await codeOf();
  const { body } = await other.exchange(code, own);
  expect((await client.refresh(body.refresh_token)).status).toBe(200);
  expect((await client.exchange(code)).body.error).toBe('invalid_grant');
  expect((await other.refresh(body.refresh_token)).body.error).toBe('invalid_grant');
});

test('an agent works on while the signing key changes, until the previous key is gone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-oauth-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const previous = join(folder, 'previous.pem');
  await writePublic(previous, generateKeyPairSync('ed25519').publicKey);
  const platform = await startPublicPlatform({ JWT_PREVIOUS_PUBLIC_KEY_PATH: previous });
  onTestFinished(() => platform.stop());
  const { JWT_PRIVATE_KEY_PATH: privatePath = '', JWT_PUBLIC_KEY_PATH: publicPath = '' } = platform.variables.backend;
  const workspace = await TestWorkspace.create(platform, 'acme');
  const client = await OauthClient.register(platform.backendUrl);
  const { access_token: old, refresh_token: token } = await client.connect(
    await signIn(platform, 'acme@example.com'),
    workspace.id,
  );
  /** At a remote-mcp that remembers nothing. */
  const statusOf = async (access: string) => {
    const { url } = await platform.startAnother({ REMOTE_PORT: '0' });
    return (await ping(`${url}/mcp`, access)).status;
  };
  const restart = async () => {
    await platform.stopBackend();
    await platform.startBackend();
  };

  await platform.stopBackend();
  await writeFile(previous, await readFile(publicPath));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writeFile(privatePath, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writePublic(publicPath, publicKey);
  await platform.startBackend();
  expect(await statusOf(old)).toBe(200);
  const { body } = await client.refresh(token);
  expect(await statusOf(body.access_token)).toBe(200);
  const { keys } = await (await fetch(`${platform.backendUrl}/.well-known/jwks.json`)).json();
  expect([body.access_token, old].map((one) => decodeProtectedHeader(one).kid)).toEqual(
    keys.map(({ kid }: { readonly kid: string }) => kid),
  );

  await writePublic(previous, generateKeyPairSync('ed25519').publicKey);
  await restart();
  expect([await statusOf(old), await statusOf(body.access_token)]).toEqual([401, 200]);
});

function writePublic(path: string, key: KeyObject): Promise<void> {
  return writeFile(path, key.export({ type: 'spki', format: 'pem' }));
}

test('a client signs in where the public address of the backend has a path', async () => {
  const port = await freePort();
  const address = { PUBLIC_BACKEND_URL: `http://127.0.0.1:${port}/platform` };
  const platform = await startPublicPlatform(address, address);
  onTestFinished(() => platform.stop());
  const proxy = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/platform(?=\/)/, '');
    const { method, headers } = request;
    const passed = ask(new URL(path, platform.backendUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const workspace = await TestWorkspace.create(platform, 'acme');
  const { createSignInLink: link } = await platform.must(
    'mutation { createSignInLink(email: "acme@example.com") { url } }',
  );
  const person = new Browser(`http://127.0.0.1:${port}`);
  await person.post('/platform/account/link', { token: new URL(link.url).hash.slice('#token='.length) });

  const { saved, authProvider } = rememberingProvider();
  const open = () => new StreamableHTTPClientTransport(new URL(platform.mcpUrl), { authProvider });
  const first = open();
  await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
  const to = saved.to ?? new URL('http://none');
  expect(to.href).toMatch(`${address.PUBLIC_BACKEND_URL}/connect/authorize?`);
  const asked = await person.get(to.pathname + to.search);
  const uid = new URL(asked.location).pathname.split('/').at(-1) ?? '';
  const answer = { workspace: workspace.id, roles: null, scope: 'tools' };
  const consent = await person.post(`/platform/connect/interaction/${uid}/consent`, answer);
  const back = new URL((await person.get(new URL(consent.body.redirect).pathname)).location);
  expect(back.searchParams.get('iss')).toBe(address.PUBLIC_BACKEND_URL);
  await first.finishAuth(back.searchParams);
  const agent = new Client({ name: 'test', version: '1' });
  await agent.connect(open());
  expect((await agent.listTools()).tools.length).toBeGreaterThan(0);
  await agent.close();
});
