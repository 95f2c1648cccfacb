import { describe, expect, test } from 'vitest';
import { type HttpMcpServer, httpMcpServer } from './http-mcp-server.ts';
import { Platform } from './platform.ts';

/** An MCP server that admits these values of the header Authorization, and refuses all others with this challenge. */
function guarded(admitted: ReadonlySet<string>, challenge: (given: string) => string = () => 'Bearer') {
  return httpMcpServer((_message, { headers }, response) => {
    const { authorization = '' } = headers;
    if (admitted.has(authorization)) return;
    response.writeHead(401, { 'www-authenticate': challenge(authorization) }).end(`I do not know ${authorization}`);
  });
}

async function running(server: HttpMcpServer, authorization: string): Promise<Platform> {
  const platform = await Platform.open();
  platform.assign({ one: server.launch({ Authorization: 'Bearer of-the-launch', 'x-own': 'kept' }) });
  platform.authorize('one', authorization);
  await platform.startRuntime();
  return platform;
}

const methods = ({ asked }: HttpMcpServer) => asked.map(({ message }) => message?.method);
const isRefused = ({ status }: { readonly status: string }) => status === 'Error';

test('the token of an integration comes before a header of the launch', async () => {
  using server = await guarded(new Set(['Bearer a-token']));
  await using platform = await running(server, 'Bearer a-token');
  await platform.connected('one');
  const sent = new Set(server.asked.map(({ headers }) => `${headers.authorization} ${headers['x-own']}`));
  expect(sent).toEqual(new Set(['Bearer a-token kept']));
});

test('a renewed token is sent without a restart', async () => {
  const admitted = new Set(['Bearer a-token', 'Bearer b-token']);
  using server = await guarded(admitted);
  await using platform = await running(server, 'Bearer a-token');
  await platform.connected('one');
  platform.authorize('one', 'Bearer b-token');
  await expect
    .poll(async () => {
      await platform.say('one', {});
      return server.asked.at(-1)?.headers.authorization;
    })
    .toBe('Bearer b-token');
  admitted.delete('Bearer a-token');
  await platform.say('one', {});
  expect(methods(server).filter((method) => method === 'initialize')).toHaveLength(1);
});

describe('a refusal', () => {
  test('is reported with the claims of its challenge', async () => {
    const metadata = 'https://crm.example/.well-known/oauth-protected-resource';
    using server = await guarded(new Set(), () => `Bearer resource_metadata="${metadata}", scope="files:read"`);
    await using platform = await running(server, 'Bearer a-token');
    const { reason } = await platform.reported('one', isRefused);
    expect(reason).toMatchObject({
      code: 'needs_authorization',
      repair: expect.stringContaining('Workspace settings > Integrations'),
      challenge: { resourceMetadata: metadata, scope: 'files:read' },
    });
  });

  test('ends at once when a valid token comes, however long the next try is away', async () => {
    const admitted = new Set<string>();
    using server = await guarded(admitted);
    await using platform = await running(server, 'Bearer a-token');
    await platform.reported('one', ({ nextRetryAt }) => (nextRetryAt ?? 0) > Date.now() + 3000);
    admitted.add('Bearer b-token');
    const before = Date.now();
    platform.authorize('one', 'Bearer b-token');
    await platform.connected('one');
    expect(Date.now() - before).toBeLessThan(2000);
  });

  test('of a token that was revoked during its use ends with the next one', async () => {
    const admitted = new Set(['Bearer a-token']);
    using server = await guarded(admitted);
    await using platform = await running(server, 'Bearer a-token');
    await platform.connected('one');
    admitted.clear();
    await expect(platform.say('one', {})).rejects.toMatchObject({ code: 'unavailable' });
    expect((await platform.reported('one', isRefused)).reason?.code).toBe('needs_authorization');
    admitted.add('Bearer b-token');
    platform.authorize('one', 'Bearer b-token');
    await platform.connected('one');
    expect(await platform.say('one', { x: 1 })).toBe('{"x":1}');
  });

  test('that quotes the tokens, in its text and its claims, shows none of them', async () => {
    const admitted = new Set(['Bearer a-token-4711', 'Bearer b-token-4712']);
    const quote = (given: string) => `Bearer scope="${given.split(' ')[1]} a-token-4711", resource_metadata="${given}"`;
    using server = await guarded(admitted, quote);
    await using platform = await running(server, 'Bearer a-token-4711');
    await platform.connected('one');
    platform.authorize('one', 'Bearer b-token-4712');
    await expect
      .poll(async () => {
        await platform.say('one', {});
        return server.asked.at(-1)?.headers.authorization;
      })
      .toBe('Bearer b-token-4712');
    admitted.clear();
    await expect(platform.say('one', {})).rejects.toThrow();
    const { reason } = await platform.reported('one', isRefused);
    expect(reason?.challenge).toEqual({ scope: '[secret] [secret]', resourceMetadata: '[secret] [secret]' });
    const shown = JSON.stringify([platform.logged, reason]);
    expect(shown).toContain('I do not know [secret]');
    expect(shown).not.toMatch(/token-471[12]/);
  });
});
