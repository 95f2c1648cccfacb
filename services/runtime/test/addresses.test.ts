import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { greetings } from './greetings.ts';
import { answerJson, httpMcpServer } from './http-mcp-server.ts';
import { canIsolateNetwork, type IsolatedNetworkResult, runInIsolatedNetwork } from './isolated-network.ts';
import { Platform } from './platform.ts';

/**
 * Two HTTP servers at one port: of 127.0.0.1, which members may not reach, and of 127.0.0.2, which the operator allows.
 */
async function neighbours(own: RequestListener = greet) {
  const reached: string[] = [];
  const listening = async (host: string, port: number, answer: RequestListener) => {
    const server = createServer((request, response) => {
      reached.push(host);
      answer(request, response);
    });
    server.listen(port, host);
    await once(server, 'listening');
    return server;
  };
  const inner = await listening('127.0.0.1', 0, greet);
  const { port } = inner.address() as AddressInfo;
  const outer = await listening('127.0.0.2', port, own);
  const close = () => [inner, outer].map((server) => server.close().closeAllConnections());
  return { port, reached, [Symbol.dispose]: close };
}

/** Closes each connection after its answer, so that the next request looks the name up again. */
const greet: RequestListener = (request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () =>
    answerJson(
      response,
      body === '' ? 0 : JSON.parse(body).id,
      { protocolVersion: '2025-11-25' },
      { connection: 'close' },
    ),
  );
};

const refused = (what: string) => ({
  code: 'address_refused',
  message: `The URL of the MCP server "one" leads to ${what}. The URL of a member may lead to public addresses and to those in runtime.allowedAddresses.`,
  repair: expect.stringContaining('runtime.allowedAddresses in svc.yaml'),
});
const unnamed = (name: string) => refused(`${name}, which has no public address`);
const allowed = ['127.0.0.2'];

describe("a member's URL", () => {
  test.each([
    ['http://127.0.0.1', '127.0.0.1, which is a loopback address'],
    ['http://127.0.0.1.', '127.0.0.1, which is a loopback address'],
    ['http://127.1', '127.0.0.1, which is a loopback address'],
    ['http://2130706433', '127.0.0.1, which is a loopback address'],
    ['http://0x7f000001', '127.0.0.1, which is a loopback address'],
    ['http://0x7f.1', '127.0.0.1, which is a loopback address'],
    ['http://0177.0.0.01', '127.0.0.1, which is a loopback address'],
    ['http://①②⑦.0.0.1', '127.0.0.1, which is a loopback address'],
    ['http://user:pass@127.0.0.1', '127.0.0.1, which is a loopback address'],
    ['https://127.0.0.1', '127.0.0.1, which is a loopback address'],
    ['http://0', '0.0.0.0, which is an address of this machine'],
    ['http://[::1]', '::1, which is a loopback address'],
    ['http://[0:0:0:0:0:0:0:1]', '::1, which is a loopback address'],
    ['http://[::]', '::, which is an address of this machine'],
    ['http://[::ffff:127.0.0.1]', '::ffff:7f00:1, which is a loopback address'],
    ['http://[64:ff9b::127.0.0.1]', '64:ff9b::7f00:1, which is a loopback address'],
    ['http://169.254.169.254', '169.254.169.254, which is a link-local address'],
    ['http://10.0.0.1', '10.0.0.1, which is a private address'],
    ['http://localhost', 'localhost, which has no public address'],
    ['http://localhost.', 'localhost., which has no public address'],
    ['http://LOCALHOST', 'localhost, which has no public address'],
    ['https://localhost', 'localhost, which has no public address'],
  ])('%s is refused', async (origin, what) => {
    using served = await neighbours();
    const { outcomes } = await greetings({ url: `${origin}:${served.port}/mcp` });
    expect(outcomes).toEqual([refused(what)]);
    expect(served.reached).toEqual([]);
  });

  test('is checked for each connection: a name that leads elsewhere later is refused', async () => {
    using served = await neighbours();
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    const { outcomes, log } = await greetings({ url: `http://rebinds.example:${served.port}/`, allowed, answers }, 2);
    expect(outcomes).toEqual(['answered', unnamed('rebinds.example')]);
    expect(served.reached).toEqual(['127.0.0.2']);
    expect(log).toContain('127.0.0.1 is a loopback address');
  });

  test('goes to the allowed ones of several addresses', async () => {
    using served = await neighbours();
    const answers = [['127.0.0.1', '::1', '127.0.0.2', '169.254.169.254']];
    const { outcomes } = await greetings({ url: `http://many.example:${served.port}/`, allowed, answers });
    expect(outcomes).toEqual(['answered']);
    expect(served.reached).toEqual(['127.0.0.2']);
  });

  test('does not distinguish a name of the inner network from a missing one', async () => {
    const at = async (answers: readonly (readonly string[])[] | undefined) =>
      (await greetings({ url: 'http://name.invalid/', ...(answers === undefined ? {} : { answers }) })).outcomes;
    expect(await at([['10.1.2.3']])).toEqual([unnamed('name.invalid')]);
    expect(await at([['169.254.169.254', '::1']])).toEqual(await at([['10.1.2.3']]));
    expect(await at([])).toEqual(await at([['10.1.2.3']]));
    expect(await at(undefined)).toEqual(await at([['10.1.2.3']]));
  });

  test('does not follow a redirect, and sends no header to its target', async () => {
    using served = await neighbours((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${served.port}/` }).end(),
    );
    for (const setBy of ['member', 'operator'] as const) {
      const headers = { authorization: 'Bearer chosen' };
      const { outcomes } = await greetings({ url: `http://127.0.0.2:${served.port}/`, allowed, headers, setBy });
      expect(outcomes).toMatchObject([{ code: 'redirected' }]);
    }
    expect(served.reached).toEqual(['127.0.0.2', '127.0.0.2']);
  });

  test("bypasses the runtime's proxy, which would resolve the name itself", async () => {
    using served = await neighbours();
    const inherited = { HTTP_PROXY: `http://127.0.0.1:${served.port}`, HTTPS_PROXY: `http://127.0.0.1:${served.port}` };
    const inner = { url: 'http://10.0.0.1/', inherited };
    expect((await greetings(inner)).outcomes).toEqual([refused('10.0.0.1, which is a private address')]);
    expect(served.reached).toEqual([]);
    const outer = { url: `http://127.0.0.2:${served.port}/`, inherited, allowed };
    expect((await greetings(outer)).outcomes).toEqual(['answered']);
    expect(served.reached).toEqual(['127.0.0.2']);
    const unreachable = await greetings({ url: 'http://127.0.0.2:1/', inherited, allowed });
    expect(unreachable.outcomes).toMatchObject([
      { code: 'not_reachable', repair: expect.stringMatching(/without its proxy.*An operator/) },
    ]);
    expect((await greetings({ ...inner, setBy: 'operator' })).outcomes).toEqual(['answered']);
    expect(served.reached).toEqual(['127.0.0.2', '127.0.0.1']);
  });
});

test("an operator's URL reaches every address, by its own connection", async () => {
  using server = await httpMcpServer();
  await using platform = await Platform.open();
  platform.assign({ one: server.launch() });
  await platform.startRuntime();
  await platform.connected('one');
  const asked = server.asked.length;
  platform.assign({ one: server.launch() }, 'member');
  const report = await platform.reported('one', ({ status }) => status === 'Error');
  expect(report.reason).toEqual(refused('127.0.0.1, which is a loopback address'));
  expect(server.asked.length).toBe(asked);
  platform.assign({ one: server.launch() }, 'operator');
  await platform.connected('one');
});

test("the operator's list lets members reach an address", async () => {
  using server = await httpMcpServer();
  await using platform = await Platform.open();
  platform.assign({ one: server.launch() }, 'member');
  await platform.startRuntime({ MCP_SERVER_ALLOWED_ADDRESSES: '10.0.0.0/8,127.0.0.1' });
  await platform.connected('one');
  expect(await platform.say('one', { text: 'reached' })).toBe('{"text":"reached"}');
});

test('a page that is not an MCP server is never quoted in a reason, whatever its status', async () => {
  const secretPage = 'ami-id iam/security-credentials';
  using refusing = await httpMcpServer((_message, _request, response) => response.writeHead(404).end(secretPage));
  using serving = await httpMcpServer((_message, _request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(secretPage),
  );
  using streaming = await httpMcpServer((_message, _request, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${secretPage}\n\n`),
  );
  await using platform = await Platform.open();
  platform.assign({ one: refusing.launch(), two: serving.launch(), three: streaming.launch() });
  await platform.startRuntime();
  for (const name of ['one', 'two', 'three']) {
    const { reason } = await platform.reported(name, ({ status }) => status === 'Error');
    expect(JSON.stringify(reason)).not.toContain('iam/');
  }
  expect(platform.logOf('launchers')).toMatchObject([{ mcpServerName: 'one', said: secretPage }]);
});

describe.skipIf(!canIsolateNetwork)('in a network of its own', () => {
  const own = '11.22.33.44';
  let result: IsolatedNetworkResult;
  beforeAll(async () => {
    result = await runInIsolatedNetwork(own);
  }, 90_000);

  test("a member's URL does not reach the machine by its public address, unless the operator allows it", () => {
    expect(result.outcome).toEqual(refused(`${own}, which is an address of this machine`));
    // Each asks for Streamable HTTP, then for HTTP+SSE.
    expect(result.reached).toEqual(['allowed member', 'allowed member', 'operator', 'operator']);
  });

  test("members' names with a silent name server delay no other name, and time out", () => {
    expect(result.otherMs).toBeLessThan(1000);
    expect(result.lookupMs).toBeLessThan(10_000);
    expect(result.unanswered[0]).toEqual(unnamed('name0.example'));
    expect(result.unanswered).toHaveLength(8);
  });
});
