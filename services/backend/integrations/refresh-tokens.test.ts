import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WorkspaceId } from '../../contracts/ids.ts';
import type { FieldValues, Node } from '../graph/graph.ts';
import type { GuardedFetch } from '../http/guarded-fetch.ts';
import { createMcpServer, updateMcpServer } from '../servers/change-servers.ts';
import { addWorkspace, openAnotherBackend, openTestBackend, type TestBackend } from '../test/open-test-backend.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { keep, read, type Tokens } from './kept.ts';
import { noteNeed } from './note-need.ts';
import { TokenRefresher } from './refresh-tokens.ts';

let backend: TestBackend;
let workspace: WorkspaceId;
let owner: TokenPrincipal;
const stops: (() => Promise<void>)[] = [];
/** Each request to a token endpoint, as host and refresh token. */
const asked: string[] = [];
/** Every answer of hosts that begin with "slow" waits for it. */
let released: PromiseWithResolvers<void>;

beforeEach(async () => {
  backend = await openTestBackend();
  ({ id: workspace, owner } = await addWorkspace(backend, 'one'));
  released = Promise.withResolvers();
  asked.length = 0;
});
afterEach(async () => {
  released.resolve();
  for (const stop of stops.splice(0)) await stop();
  await backend.close();
});

const fetch: GuardedFetch = async (text, { body }) => {
  const { host } = new URL(text);
  const refreshToken = new URLSearchParams(String(body)).get('refresh_token');
  asked.push(`${host} ${refreshToken}`);
  if (host.startsWith('slow')) await released.promise;
  const answer = { access_token: `new-${refreshToken}`, token_type: 'Bearer', expires_in: 3600, refresh_token: 'next' };
  return new Response(JSON.stringify(answer), { status: 200, headers: { 'content-type': 'application/json' } });
};

function startRefresher(at = backend): void {
  const running = new TokenRefresher({ ...at, integrations: { ...at.integrations, fetch } }).start();
  stops.push(() => running.stop());
}

/** A connected integration whose tokens are due. */
async function addDue(name: string, host: string, place = { workspace, owner }) {
  const url = `https://${name}.example/mcp`;
  const server = await createMcpServer(backend, place.owner, place.workspace, { name, launch: { url } });
  await backend.graph.write((transaction) =>
    noteNeed(transaction, server, { code: 'needs_authorization', message: '', repair: '' }),
  );
  const made = await backend.graph.findBy('integration', { mcpServer: server.id }, place.workspace);
  if (made === null) throw new Error('no integration was made');
  const issuer = `https://${host}`;
  const tokens: Tokens = {
    ...{ url, resource: url, accessToken: 'old', refreshToken: name },
    provider: {
      ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
      code_challenge_methods_supported: ['S256'],
    },
    client: { kind: 'own', id: 'client', secret: null, issuer, redirectUri: null },
  };
  await change(made, { state: 'connected', tokens: keep(backend, made, 'tokens', tokens), dueAt: 1 });
  return { server, integration: made };
}

function change({ id, workspace: anchor }: Node<'integration'>, fields: FieldValues<'integration'>) {
  return backend.graph.write((transaction) => transaction.update('integration', id, fields, { anchor }));
}

async function stateOf({ id, workspace: anchor }: Node<'integration'>) {
  const known = await backend.graph.find('integration', id, anchor);
  const tokens = known === null ? null : read(backend, known, 'tokens');
  return { state: known?.state, accessToken: tokens?.accessToken, refreshToken: tokens?.refreshToken };
}

describe('a refresh', () => {
  test('gives new tokens, and raises the token version of the MCP server', async () => {
    const { server, integration } = await addDue('crm', 'fast.example');
    startRefresher();
    const renewed = { state: 'connected', accessToken: 'new-crm', refreshToken: 'next' };
    await expect.poll(() => stateOf(integration)).toEqual(renewed);
    expect((await backend.graph.find('mcpServer', server.id, workspace))?.tokenVersion).toBe(1);
    expect(JSON.stringify(backend.logged)).not.toMatch(/new-crm|"next"/);
  });

  test('sends a refresh token once, however many backends there are', async () => {
    const other = await openAnotherBackend(backend);
    stops.push(() => other.close());
    const all = [];
    for (let i = 0; i < 5; i++) all.push((await addDue(`crm-${i}`, 'fast.example')).integration);
    for (const at of [backend, other]) startRefresher(at);
    for (const one of all) await expect.poll(async () => (await stateOf(one)).refreshToken).toBe('next');
    expect(asked).toHaveLength(5);
  });

  test('of many slow providers of one workspace delays no other workspace', async () => {
    for (let i = 0; i < 20; i++) await addDue(`slow-${i}`, `slow-${i}.example`);
    const { id, owner: otherOwner } = await addWorkspace(backend, 'other');
    const { integration } = await addDue('crm', 'fast.example', { workspace: id, owner: otherOwner });
    startRefresher();
    await expect.poll(async () => (await stateOf(integration)).accessToken).toBe('new-crm');
    expect(asked.length).toBeLessThan(21);
  });

  test('keeps its tokens when a person changes the scopes meanwhile', async () => {
    const { integration } = await addDue('crm', 'slow.example');
    startRefresher();
    await expect.poll(() => asked).toEqual(['slow.example crm']);
    await change(integration, { wantedScopes: '["files:read"]' });
    released.resolve();
    await expect.poll(async () => (await stateOf(integration)).refreshToken).toBe('next');
  });

  test('connects nothing that a person has disconnected meanwhile', async () => {
    const { integration } = await addDue('crm', 'slow.example');
    startRefresher();
    await expect.poll(() => asked).toEqual(['slow.example crm']);
    await change(integration, { state: 'needs_authorization', tokens: null, dueAt: null });
    released.resolve();
    for (const stop of stops.splice(0)) await stop();
    expect(await stateOf(integration)).toMatchObject({ state: 'needs_authorization', accessToken: undefined });
  });

  test.each([
    ['a command', { command: 'node' }],
    ['at another address', { url: 'https://evil.example/mcp' }],
  ])('of an MCP server that is now %s ends, and sends nothing', async (_what, launch) => {
    const { server, integration } = await addDue('crm', 'fast.example');
    await updateMcpServer(backend, owner, workspace, server.id, { launch });
    startRefresher();
    await expect.poll(async () => (await stateOf(integration)).state).toBe('needs_authorization');
    expect([asked, (await stateOf(integration)).accessToken]).toEqual([[], undefined]);
  });
});
