import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../../services/contracts/keys.ts';
import { Secret } from '../../services/contracts/secret.ts';
import { type Platform, startPlatform, until } from '../../services/remote-mcp/test/platform.ts';
import { tool } from '../../services/remote-mcp/test/runtime.ts';
import { TestWorkspace } from '../../services/remote-mcp/test/workspace.ts';
import { climb } from '../keys-test/ladder.ts';

let platform: Platform;
let workspace: TestWorkspace;
let able: string;
let without: string;

beforeAll(async () => {
  platform = await startPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  await workspace.mcpServer('files', [tool('read_file'), tool('search_files')]);
  const reading = await workspace.skill('reading', ['files/read_file', 'files/search_files']);
  const [reader, nothing] = [await workspace.role('Reader', [reading]), await workspace.role('R3', [])];
  able = (await workspace.key('able', { roles: [reader] })).text;
  without = (await workspace.key('without', { roles: [nothing] })).text;
  await until(async () => (await outcomeOf(able)).detailOf('skills')?.startsWith('1 skill') ?? false);
});
afterAll(() => platform.stop());

async function outcomeOf(key: string, url = platform.mcpUrl) {
  const found = await climb({ url: new URL(url), key: new Secret(key) });
  const rung = (name: string) => found.rungs.find((one) => one.name === name);
  return { ...found, rung, detailOf: (name: string) => rung(name)?.detail, last: found.rungs.at(-1) };
}

describe('a key is valid', () => {
  test('by an answer of /mcp, and its skills and tools are counted', async () => {
    const found = await outcomeOf(able);
    expect(found).toMatchObject({ ok: true, verdict: 'valid', status: 200, cause: null });
    expect(found.rung('authentication')).toMatchObject({ mark: 'passed', detail: 'the key is valid' });
    expect(found.rung('skills')).toMatchObject({ mark: 'passed', detail: '1 skill (reading), 2 tools' });
  });

  test('but useless if its roles give no skill', async () => {
    const found = await outcomeOf(without);
    expect(found).toMatchObject({ ok: true, verdict: 'valid', cause: null });
    expect(found.rung('skills')).toMatchObject({ ok: true, mark: 'noted' });
    expect(found.detailOf('skills')).toContain('No skill is usable in this session.');
    expect(found.detailOf('skills')).toContain('"R3"');
    expect(found.detailOf('skills')).not.toContain('\n');
  });

  test.each([
    ['?skillIds=readng', { code: 'forbidden', hint: 'Did you mean "reading"? skillIds takes names and ids.' }],
    [
      '?skills=reading',
      { code: 'invalid_input', message: '"skills" is not a parameter of /mcp: it must be "skillIds".' },
    ],
  ])('but its address has a mistake: %s', async (query, cause) => {
    const found = await outcomeOf(able, platform.mcpUrl + query);
    expect(found).toMatchObject({ ok: false, verdict: 'valid', cause });
    expect(found.last).toMatchObject({ name: 'MCP handshake', mark: 'failed' });
  });

  test('never if it is refused', async () => {
    const found = await outcomeOf(newKey('user').reveal());
    expect(found).toMatchObject({ ok: false, verdict: 'refused', status: 401, cause: { code: 'unauthenticated' } });
    expect(found.last).toMatchObject({ name: 'authentication', mark: 'failed' });
  });
});

describe('a key is not tested, and not called valid,', () => {
  const untested = { ok: false, verdict: 'untested', status: 0, cause: { code: 'unavailable' } };

  test('at another path of the same host', async () => {
    const found = await outcomeOf(able, platform.url);
    expect(found).toMatchObject(untested);
    expect(found.last).toMatchObject({ name: 'authentication', mark: 'untested', ok: false });
    expect(found.cause?.message).toContain('is not /mcp');
    expect(found.cause?.hint).toContain(platform.mcpUrl);
  });

  test.each<[string, RequestListener, string]>([
    ['at a web page that refuses POST', (_, response) => void response.writeHead(405).end(), '405'],
    [
      'at an MCP server that requires no key',
      (_, response) => void response.end('{"jsonrpc":"2.0","id":1,"result":{}}'),
      'accepts requests without a key',
    ],
    [
      'at a place that moved',
      (_, response) => void response.writeHead(308, { location: 'https://tools.example/mcp' }).end(),
      'https://tools.example/mcp',
    ],
    [
      'behind a proxy that requires a key and has no MCP server',
      ({ headers }, response) => void response.writeHead(headers.authorization === undefined ? 401 : 404).end('gone'),
      '404',
    ],
  ])('%s', async (_, handle, told) => {
    const server = await serve(handle);
    const found = await outcomeOf(able, server.url);
    expect(found).toMatchObject({ ok: false, verdict: 'untested', cause: { code: 'unavailable' } });
    expect(`${found.cause?.message} ${found.cause?.hint}`).toContain(told);
    expect(found.last).toMatchObject({ name: 'authentication', mark: 'untested' });
    await server.stop();
  });

  test('and is never sent to a server that did not ask for one', async () => {
    const seen: (string | undefined)[] = [];
    const server = await serve(({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(404).end();
    });
    await outcomeOf(able, server.url);
    expect(seen).toEqual([undefined]);
    await server.stop();
  });
});

describe('at the address for keys alone', () => {
  const climbThere = (url: string) => climb({ url: new URL(url), key: new Secret(able), isForKeys: true });

  test('OAuth is noticed, which a proxy causes that does not pass the name on', async () => {
    const found = await climbThere(platform.mcpUrl);
    expect(found).toMatchObject({ ok: true, verdict: 'valid' });
    const { mark, detail } = found.rungs.find(({ name }) => name === 'authentication') ?? expect.fail('no rung');
    expect([mark, detail]).toEqual(['noted', expect.stringContaining('does not pass the Host header on')]);
  });
});

describe('a text that cannot be a key', () => {
  test.each([
    ['the placeholder of an example', '…'],
    ['words', 'my key'],
    ['nothing', ''],
  ])('%s is refused before anything is asked', async (_, text) => {
    const found = await outcomeOf(text, 'http://127.0.0.1:1/mcp');
    expect(found).toMatchObject({ ok: false, verdict: 'refused', status: 0, cause: { code: 'unauthenticated' } });
    expect(found.rungs.map(({ name }) => name)).toEqual(['key']);
  });

  test('is answered with the right place for the key', async () => {
    expect((await outcomeOf('…', 'http://127.0.0.1:1/mcp')).cause?.hint).toContain('Replace … with your key');
  });
});

test('https to a port that speaks http is explained', async () => {
  const server = await serve((_, response) => void response.end());
  const found = await outcomeOf(able, server.url.replace('http:', 'https:'));
  expect(found.last).toMatchObject({ name: 'TLS', mark: 'failed' });
  expect(found.cause?.message).toContain('speaks http, not https');
  expect(found.cause?.hint).toContain(server.url);
  await server.stop();
});

/** A healthy web server with a given answer at /mcp. */
async function serve(handle: RequestListener): Promise<{ url: string; stop: () => Promise<void> }> {
  const server: Server = createServer((request, response) =>
    request.url === '/health' ? response.end('ok') : handle(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
