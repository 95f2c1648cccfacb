import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { findUnsafe, texts } from './terminal-attacks.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/**
 * A backend that another program has replaced answers the command line. It forges no line on the terminal, and no
 * command waits or reads for ever.
 */
type Answering = (response: ServerResponse, query: string) => void;

let platform: Platform;
let answering: Answering;
const asked: string[] = [];
const server = createServer(async (request, response) => {
  const query = String(JSON.parse(await text(request)).query);
  asked.push(query);
  answering(response, query);
});

beforeAll(async () => {
  platform = await Platform.start();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const record = `${platform.installation.stateDir}/process.json`;
  const own = `http://127.0.0.1:${platform.ports.backend}`;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(record, readFileSync(record, 'utf8').replaceAll(`${own}"`, `${url}"`));
}, startTimeoutMs);
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await platform?.[Symbol.asyncDispose]();
}, startTimeoutMs);
beforeEach(() => {
  asked.length = 0;
});

const words = texts.join('');
const workspace = { id: `wsp_${words}`, name: `Default${words}` };
const integration = {
  ...{ id: `int_${words}`, state: 'connected', issuer: `https://${words}/`, client: 'own', clientId: words },
  ...{ scopes: [words, 'b'], wantedScopes: [words], expiresAt: 1, refreshedAt: 1, connectedAt: 1 },
  ...{ redirectUri: `https://svc.example/${words}`, problem: { code: words, message: words, repair: words } },
};
const integrations = [
  { ...integration, mcpServer: { id: 'mcp_1', name: 'crm' } },
  { ...integration, id: 'int_2', mcpServer: { id: 'mcp_2', name: words } },
  { ...integration, id: 'int_3', state: 'needs_authorization', mcpServer: { id: 'mcp_3', name: `x${words}` } },
];

const send = (response: ServerResponse, body: unknown, status = 200) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const withHostileData: Answering = (response, query) => {
  const page = { nodes: integrations, pageInfo: { next: null } };
  const data = {
    ...{
      workspace: { ...workspace, integrations: page },
      workspaces: { nodes: [workspace], pageInfo: { next: null } },
    },
    ...{ updateIntegration: integration, disconnectIntegration: integration },
  };
  send(response, query.includes('{') ? { data } : {});
};

const commands = [
  'integration list',
  'integration show crm',
  'integration show int_2',
  'integration connect crm',
  'integration connect int_2',
  'integration connect int_3',
  'integration update int_2 --scope a',
  'integration disconnect int_2 --yes',
  'integration disconnect int_3 --yes',
  'integration show absent',
];

async function runSafely(typed: string, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await platform.run(typed.split(' '), { env, timeoutMs: 30_000 });
  expect(asked.length).toBeGreaterThan(0);
  expect([findUnsafe(stdout), findUnsafe(stderr)]).toEqual([null, null]);
  expect(stdout + stderr).not.toMatch(/^(forged|all is well)/m);
  return { code, stdout, stderr };
}

test.each(commands)('no word of it reaches the terminal as it is: svc %s', async (typed) => {
  answering = withHostileData;
  for (const env of [{}, { FORCE_COLOR: '1' }]) await runSafely(typed, env);
  await runSafely(`${typed} --json`);
});

const writeForever = (response: ServerResponse) => {
  response.on('error', () => undefined).writeHead(200, { 'content-type': 'application/json' });
  const piece = ' '.repeat(1024 * 1024);
  const writing = setInterval(() => response.write(piece), 1);
  response.once('close', () => clearInterval(writing));
};

const drip = (response: ServerResponse) => {
  response.on('error', () => undefined).writeHead(200, { 'content-type': 'application/json' });
  const writing = setInterval(() => response.write(' '), 300);
  response.once('close', () => clearInterval(writing));
};

test.each<[string, Answering]>([
  ['errors', (response) => send(response, { errors: [{ message: words, extensions: { code: words, hint: words } }] })],
  ['a refusal', (response) => send(response, { error: { message: words, code: 'forbidden', hint: words } }, 403)],
  ['no JSON', (response) => void response.end(words)],
  ['nothing', (response) => void response.end()],
  ['a list', (response) => send(response, [words])],
  ['no data', (response) => send(response, { data: null })],
  ['a redirect', (response) => void response.writeHead(302, { location: 'https://evil.example/' }).end()],
  ['the end of the connection', (response) => void response.destroy()],
  ['bytes without an end', writeForever],
  ['a byte now and then', drip],
  [
    'pages without an end',
    (response) => {
      const page = { nodes: [], pageInfo: { next: 'again' } };
      send(response, { data: { workspace: { ...workspace, integrations: page } } });
    },
  ],
])('svc ends with an error where it answers with %s', async (_, answer) => {
  answering = answer;
  const began = performance.now();
  const { code, stdout } = await runSafely('integration list');
  expect({ code, stdout }).toEqual({ code: expect.toSatisfy((one) => one > 0), stdout: '' });
  expect(performance.now() - began).toBeLessThan(25_000);
});
