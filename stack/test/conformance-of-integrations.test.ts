import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Person } from './person.ts';
import { Platform, startTimeoutMs, testTimeoutMs } from './platform.ts';
import { until } from './until.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

/** A folder that `.ci/mcp-clients` has filled. */
const installed = process.env.SVC_TEST_MCP_CLIENTS ?? '';
const program = join(installed, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const client = fileURLToPath(new URL('clients/sign-in/at-platform.mjs', import.meta.url));

interface Listed {
  readonly id: string;
  readonly mcpServer: { readonly id: string } | null;
}

/** Without basic-cimd: an authorization server cannot fetch the document of a platform on localhost. */
const scenarios = [
  ...['metadata-default', 'metadata-var1', 'metadata-var2', 'metadata-var3'],
  ...['scope-from-www-authenticate', 'scope-from-scopes-supported', 'scope-omitted-when-undefined'],
  ...['token-endpoint-auth-basic', 'token-endpoint-auth-post', 'token-endpoint-auth-none'],
  ...['resource-mismatch', 'offline-access-scope', 'offline-access-not-supported'],
  ...['iss-supported', 'iss-not-advertised', 'iss-supported-missing', 'iss-wrong-issuer', 'iss-unexpected'],
  ...['metadata-issuer-mismatch'],
];

describe.skipIf(installed === '')('the conformance suite of MCP, as an MCP server that needs authorization', () => {
  let platform: Platform;
  let person: Person;
  let count = 0;

  const connect = createServer(async (request, response) => {
    const url = await text(request);
    const [status, told] = await connectAt(url).then(
      () => [200, 'connected'] as const,
      (error: unknown) => [500, String(error)] as const,
    );
    response.writeHead(status).end(told);
  });

  beforeAll(async () => {
    const settings = (yaml: string) => yaml.replace('allowedAddresses: []', 'allowedAddresses: [127.0.0.1, "::1"]');
    platform = await Platform.start({ settings });
    person = await Person.signIn(platform);
    connect.listen(0, '127.0.0.1');
    await once(connect, 'listening');
  }, startTimeoutMs);
  afterAll(async () => {
    connect.closeAllConnections();
    connect.close();
    await platform[Symbol.asyncDispose]();
  }, startTimeoutMs);

  /** What a person does in the pages: adds the MCP server, and connects its integration. */
  async function connectAt(url: string): Promise<void> {
    const create =
      'mutation ($workspace: ID!, $input: McpServerInput!) { createMcpServer(workspace: $workspace, input: $input) { id } }';
    const input = { name: `server${++count}`, launch: { url } };
    const { createMcpServer: made } = await person.graphql(create, { input });
    const list =
      'query ($workspace: ID!) { workspace(id: $workspace) { integrations(first: 100) { nodes { id mcpServer { id } } } } }';
    let id = '';
    await until(async () => {
      const { workspace } = await person.graphql(list);
      id = workspace.integrations.nodes.find(({ mcpServer }: Listed) => mcpServer?.id === made.id)?.id ?? '';
      return id !== '';
    });
    const begin = 'mutation ($workspace: ID!, $id: ID!) { beginIntegration(workspace: $workspace, id: $id) }';
    const { beginIntegration: address } = await person.graphql(begin, { id });
    const asked = await fetch(address, { redirect: 'manual' });
    const { search } = new URL(asked.headers.get('location') ?? '', address);
    await person.graphql('mutation ($answer: String!) { finishIntegration(answer: $answer) { id } }', {
      answer: search,
    });
    const show =
      'query ($workspace: ID!, $id: ID!) { workspace(id: $workspace) { mcpServer(id: $id) { status reason { code } } } }';
    await until(async () => {
      const { workspace } = await person.graphql(show, { id: made.id });
      const { status, reason } = workspace.mcpServer;
      // Some MCP servers of the suite accept the token, and no revision of MCP that the runtime speaks.
      return status === 'Connected' || (status === 'Error' && reason.code !== 'needs_authorization');
    });
  }

  test.each(scenarios)('auth/%s', async (scenario) => {
    const command = `${process.execPath} ${client}`;
    const args = [program, 'client', '--command', command, '--scenario', `auth/${scenario}`];
    const env = { ...process.env, TEST: `http://127.0.0.1:${(connect.address() as AddressInfo).port}` };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [said, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    expect([code, code === 0 ? '' : said + err]).toEqual([0, '']);
  });
});
