import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callHeader, callReplyKinds } from '../../contracts/bus/call.ts';
import { subjects } from '../../contracts/bus/subjects.ts';
import { type McpServerId, newProcessId } from '../../contracts/ids.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { isGood, openSession, rpc, send } from './raw.ts';
import { notify, result, type TestRuntime, tool } from './runtime.ts';
import { openStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

const tools = [
  tool('read', { annotations: { readOnlyHint: true } }),
  tool('set', { annotations: { readOnlyHint: false, idempotentHint: true } }),
  tool('write', { annotations: { readOnlyHint: false, destructiveHint: false } }),
  tool('guess'),
];

let platform: Platform;
let backend: Bus;
/**
 * The process that dies, and the one that survives. Both belong to the platform's own runtimes, so both run unbound MCP
 * servers.
 */
let dying: TestRuntime;
let staying: TestRuntime;
let server: McpServerId;
let key: string;
let session: string;

beforeAll(async () => {
  platform = await startPlatform();
  backend = await platform.hub.connect({ kind: 'backend' }, newProcessId());
  staying = platform.runtime;
  const workspace = await TestWorkspace.create(platform, 'acme');
  server = await workspace.mcpServer('shared', tools, { ...staying, name: null });
  const refs = tools.map(({ name }) => `shared/${name}`);
  await workspace.role('All', [await workspace.skill('all', refs)]);
  key = (await workspace.key('agent')).text;
  session = await openSession(platform.mcpUrl, key);
});
afterAll(async () => {
  await backend.close();
  await platform.stop();
});

beforeEach(async () => {
  dying = await platform.connectRuntime('lonely');
  await dying.report(server);
  staying.answer(async ({ params }) => result({ content: [{ type: 'text', text: `staying: ${params.name}` }] }));
  await staying.report(server, gone);
  // From now on calls go to the process that will die.
  await until(async () => {
    const before = staying.calls.length;
    return isGood(await call('read')) && staying.calls.length === before;
  });
});

afterEach(() => dying.stop());

const gone = { status: 'Disconnected', health: 'red' } as const;
const starting = { ...gone, reason: { code: 'starting', message: 'It is starting.', repair: 'Wait.' } };
const call = (name: string, id?: string) =>
  send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name, arguments: {} }, id) });
const textOf = async (answer: ReturnType<typeof call>) => (await answer).body.result?.content[0].text;

/** A call that the dying process has accepted. */
async function underWay(name: string, id?: string) {
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  dying.answer(() => {
    resolve();
    return new Promise(() => undefined);
  });
  const answer = call(name, id);
  await taken;
  return { answer };
}

describe('a runtime process ends with a call in progress', () => {
  test.each(['read', 'set'])(
    '"%s" declares that it may be repeated, and is retried at another process',
    async (name) => {
      const { answer } = await underWay(name);
      await staying.report(server);
      await backend.disconnect(dying.runtime);
      expect(await textOf(answer)).toBe(`staying: ${name}`);
    },
  );

  test.each(['write', 'guess'])('"%s" declares nothing: it ends at once, and is not retried', async (name) => {
    const { answer } = await underWay(name);
    await staying.report(server);
    const before = staying.calls.length;
    await backend.disconnect(dying.runtime);
    const { body, status } = await answer;
    expect([status, body.error]).toEqual([
      200,
      {
        code: -31503,
        message: `The runtime of MCP server "shared" ended before "${name}" was answered: the call may have been carried out or not.`,
        data: {
          code: 'unavailable',
          hint: 'Send it again only if doing it twice does no harm: the tool is marked neither read-only nor idempotent.',
        },
      },
    ]);
    expect(staying.calls).toHaveLength(before);
  });

  test('a repeatable call waits for a process that is starting', async () => {
    await staying.report(server, starting);
    const { answer } = await underWay('read');
    await backend.disconnect(dying.runtime);
    const listed = async () =>
      (await send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name: 'list_skills' }) })).text;
    await until(async () => (await listed()).includes('It is starting'));
    await staying.report(server);
    expect(await textOf(answer)).toBe('staying: read');
  });

  test('a repeatable call without another process gets an error that says so', async () => {
    const { answer } = await underWay('read');
    await backend.disconnect(dying.runtime);
    expect((await answer).body.error).toMatchObject({
      code: -31503,
      message: expect.stringContaining('"shared" ended before "read" was answered'),
      data: { hint: 'Send it again: the tool says that doing it twice does no harm.' },
    });
  });

  test('a call cancelled while it waits for another process is not sent', async () => {
    await staying.report(server, starting);
    const { answer } = await underWay('read', 'waits');
    await backend.disconnect(dying.runtime);
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'waits' } };
    const before = staying.calls.length;
    await send(platform.mcpUrl, { key, session, body: cancelled });
    expect((await answer).text).toBe('');
    await staying.report(server);
    await until(async () => isGood(await call('read')));
    expect(staying.calls).toHaveLength(before + 1);
  });

  test('progress never goes back, and there is one answer', async () => {
    const told = Promise.withResolvers<void>();
    dying.answer(async ({ progress }, request) => {
      for (const at of [1, 2, 3]) {
        await notify(request, 'notifications/progress', { progressToken: progress, progress: at });
      }
      told.resolve();
      return new Promise(() => undefined);
    });
    staying.answer(async ({ progress }, request) => {
      for (const at of [1, 2, 3, 4]) {
        await notify(request, 'notifications/progress', { progressToken: progress, progress: at });
      }
      return result({ content: [] });
    });
    const body = rpc('tools/call', { name: 'read', arguments: {}, _meta: { progressToken: 7 } }, 'once');
    const answer = await openStream(platform.mcpUrl, { key, session, method: 'POST', body });
    await told.promise;
    await staying.report(server);
    await backend.disconnect(dying.runtime);
    await answer.closed;
    const [one, two, three, four, last, ...rest] = answer.messages;
    expect([one, two, three, four].map((message) => message)).toMatchObject(
      [1, 2, 3, 4].map((progress) => ({ params: { progressToken: 7, progress } })),
    );
    expect([last, rest]).toEqual([{ jsonrpc: '2.0', id: 'once', result: { content: [] } }, []]);
  });
});

describe('a call that was not carried out goes to another process, even if it is not repeatable', () => {
  const refused = {
    headers: { [callHeader.kind]: callReplyKinds.refused },
    payload: Buffer.from(JSON.stringify({ code: 'unavailable', message: 'Not here.', hint: 'Ask another.' })),
  };

  test('because its runtime refused it', async () => {
    await staying.report(server);
    await until(async () => (await textOf(call('write'))) === 'staying: write');
    let refusals = 0;
    dying.answer(async () => {
      refusals++;
      return refused;
    });
    await until(async () => {
      expect(await textOf(call('write'))).toBe('staying: write');
      return refusals > 0;
    });
  });

  test('and if all processes refuse it, the error has the reason', async () => {
    await staying.report(server);
    await until(async () => (await textOf(call('write'))) === 'staying: write');
    for (const one of [dying, staying]) one.answer(async () => refused);
    expect((await call('write')).body.error).toEqual({
      code: -31503,
      message: 'Not here.',
      data: { code: 'unavailable', hint: 'Ask another.' },
    });
  });

  test('because it arrived between the end of the last process and the report of the next', async () => {
    dying.stopBeating();
    // As when its connection ends: remote-mcp learns it before the backend has stored it.
    backend.publish(subjects.gone(dying.runtime, dying.process), Buffer.from('{}'));
    const listed = async () =>
      (await send(platform.mcpUrl, { key, session, body: rpc('tools/call', { name: 'list_skills' }) })).text;
    await until(async () => (await listed()).includes('has stopped answering'));
    const answer = call('write');
    await staying.report(server);
    expect(await textOf(answer)).toBe('staying: write');
  });

  test('because it reached no listener, also at a process that is reported only later', async () => {
    // remote-mcp would retry a process that sends heartbeats and does not answer, after every heartbeat.
    dying.stopBeating();
    await dying.stopAnswering();
    const answer = call('write');
    await staying.report(server);
    expect(await textOf(answer)).toBe('staying: write');
  });
});
