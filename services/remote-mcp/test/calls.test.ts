import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callHeader } from '../../contracts/bus/call.ts';
import type { UsageRecord } from '../../contracts/bus/messages.ts';
import { streams, subjects } from '../../contracts/bus/subjects.ts';
import { SvcError } from '../../contracts/errors.ts';
import { type McpServerId, newProcessId } from '../../contracts/ids.ts';
import { gateTo } from './gate.ts';
import { type Platform, startPlatform, until } from './platform.ts';
import { isGood, openSession, rpc, send } from './raw.ts';
import { notify, result, rpcError, tool } from './runtime.ts';
import { openStream } from './stream.ts';
import { TestWorkspace } from './workspace.ts';

let platform: Platform;
let workspace: TestWorkspace;
let server: McpServerId;
let key: { id: string; text: string };
let session: string;

beforeAll(async () => {
  platform = await startPlatform();
  workspace = await TestWorkspace.create(platform, 'acme');
  server = await workspace.mcpServer('files', [tool('echo'), tool('slow')]);
  // The same tool names again, so that these get a prefix.
  await workspace.mcpServer('more', [tool('echo')]);
  const skill = await workspace.skill('all', ['files/echo', 'files/slow', 'more/echo']);
  await workspace.role('All', [skill]);
  key = await workspace.key('agent');
  session = await openSession(platform.mcpUrl, key.text);
  await until(async () => isGood(await call('call_tool', { name: 'echo' })));
});
afterAll(() => platform.stop());
beforeEach(() => {
  platform.runtime.answer(async ({ params }) => result({ content: [{ type: 'text', text: JSON.stringify(params) }] }));
});

const call = (name: string, args: object = {}, more: { id?: string | number; _meta?: object } = {}) =>
  send(platform.mcpUrl, {
    key: key.text,
    session,
    body: rpc(
      'tools/call',
      { name, arguments: args, ...(more._meta === undefined ? {} : { _meta: more._meta }) },
      more.id,
    ),
  });
const cancel = (requestId: unknown, of = session) =>
  send(platform.mcpUrl, {
    key: key.text,
    session: of,
    body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } },
  });
const lastCall = () => platform.runtime.calls.at(-1);

describe('a call', () => {
  test('is abandoned after the deadline of its MCP server, or else of the platform', async () => {
    const hasty = await workspace.mcpServer('hasty', [tool('hurry')]);
    await platform.must(
      'mutation($w: ID!, $id: ID!) { updateMcpServer(workspace: $w, id: $id, input: { callTimeout: 1 }) { version } }',
      { w: workspace.id, id: hasty },
    );
    await workspace.role('Hasty', [await workspace.skill('hasty', ['hasty/hurry'])]);
    await until(async () => isGood(await call('call_tool', { name: 'hurry' })));
    platform.runtime.answer(() => new Promise(() => undefined));
    const own = (await call('call_tool', { name: 'hurry' })).body.error;
    expect(own).toMatchObject({
      message: 'MCP server "hasty" did not answer "hurry" within 1 s (callTimeout of the MCP server "hasty").',
      data: { code: 'timeout', hint: expect.stringContaining('svc server update hasty --call-timeout 5') },
    });
    const another = await platform.startAnother({ MCP_SERVER_CALL_TIMEOUT_SECONDS: '1' });
    const other = await openSession(`${another.url}/mcp`, key.text);
    const body = rpc('tools/call', { name: 'call_tool', arguments: { name: 'echo' } });
    const usual = (await send(`${another.url}/mcp`, { key: key.text, session: other, body })).body.error;
    expect(usual.message).toContain('within 1 s (runtime.callTimeout in svc.yaml)');
  });

  test('reaches its MCP server under the name that it knows, with who asks', async () => {
    await call('echo', { a: 1 });
    expect(lastCall()).toMatchObject({
      mcpServer: server,
      method: 'tools/call',
      session,
      key: key.id,
      params: { name: 'echo' },
    });
    const prefixed = (await call('more_echo', { a: 1 })).body;
    expect(prefixed.error ?? lastCall()?.params).toEqual({ name: 'echo', arguments: { a: 1 } });
    expect(lastCall()?.mcpServer).not.toBe(server);
  });

  test('keeps the text of its arguments', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":12345678901234567890,"x":1.0}}}`;
    await send(platform.mcpUrl, { key: key.text, session, body });
    expect(lastCall()?.paramsText).toBe('{"name":"echo","arguments":{"n":12345678901234567890,"x":1.0}}');
  });

  test('carries its request id from the header to the runtime', async () => {
    const headers = { 'x-request-id': 'follow-me' };
    const answer = await send(platform.mcpUrl, {
      key: key.text,
      session,
      headers,
      body: rpc('tools/call', { name: 'echo' }),
    });
    expect([answer.headers.get('x-request-id'), lastCall()?.request]).toEqual(['follow-me', 'follow-me']);
  });

  test('is answered with the unchanged bytes of the result', async () => {
    const payload = Buffer.from('{"content":[],"n":12345678901234567890,"x":1.0,"ü":"\\u00fc"}');
    platform.runtime.answer(async () => ({ payload, headers: { [callHeader.kind]: 'result' } }));
    const answer = await call('echo', {}, { id: 'ä"1' });
    expect(answer.text).toBe(`{"jsonrpc":"2.0","id":"ä\\"1","result":${payload}}`);
  });

  test('is answered with the unchanged error of the MCP server', async () => {
    const error = { code: -32042, message: 'Go there first', data: { elicitations: [{ url: 'https://x' }] } };
    platform.runtime.answer(async () => rpcError(error));
    const answer = await call('echo', {}, { id: 3 });
    expect([answer.status, answer.body]).toEqual([200, { jsonrpc: '2.0', id: 3, error }]);
  });

  test('of 1 MB there and 15 MB back goes through', async () => {
    platform.runtime.answer(async ({ params }) =>
      result({ content: [{ type: 'text', text: params.arguments.x.repeat(15) }] }),
    );
    const answer = await call('echo', { x: 'x'.repeat(1_000_000) });
    expect(answer.body.result.content[0].text).toHaveLength(15_000_000);
  });

  test('can be made through call_tool, with unchanged arguments and _meta', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"name":"echo","arguments":{"n":1.0}},"_meta":{"x":2.0}}}`;
    await send(platform.mcpUrl, { key: key.text, session, body });
    expect(lastCall()?.paramsText).toBe('{"name":"echo","arguments":{"n":1.0},"_meta":{"x":2.0}}');
  });

  test.each<[string, object, RegExp]>([
    ['unknown', { name: 'nothing' }, /Unknown tool/],
    ['one of the constant tools', { name: 'list_skills' }, /Give the name of a tool of a skill/],
    ['not named', {}, /Give the name/],
  ])('through call_tool of one that is %s is an error that the model can mend', async (_what, args, message) => {
    const { result: answer } = (await call('call_tool', args)).body;
    expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(message) }] });
  });

  test.each<[string, unknown]>([
    ['of an unknown tool', { name: 'nothing' }],
    ['without a name', {}],
    ['with a malformed name', { name: 7 }],
    ['with arguments that are not an object', { name: 'echo', arguments: [1] }],
  ])('%s is refused as invalid', async (_what, params) => {
    const before = platform.runtime.calls.length;
    const { status, body } = await send(platform.mcpUrl, { key: key.text, session, body: rpc('tools/call', params) });
    expect([status, body.error.code]).toEqual([200, -32602]);
    expect(platform.runtime.calls).toHaveLength(before);
  });
});

describe('progress', () => {
  test("arrives under the agent's token, which the MCP server never sees", async () => {
    platform.runtime.answer(async (got, request) => {
      const { progressToken } = got.params._meta;
      expect(progressToken).toBe(got.progress);
      await notify(request, 'notifications/progress', { progressToken, progress: 1, total: 2, message: 'half' });
      await notify(request, 'notifications/progress', { progressToken: 'of another call', progress: 9 });
      await notify(request, 'notifications/progress', { progressToken, progress: 2, total: 2 });
      return result({ content: [] });
    });
    for (const progressToken of ['mine', 7]) {
      const body = rpc('tools/call', { name: 'slow', _meta: { progressToken } }, 1);
      const stream = await openStream(platform.mcpUrl, { key: key.text, session, method: 'POST', body });
      await stream.closed;
      expect(lastCall()?.params._meta.progressToken).not.toBe(progressToken);
      expect(stream.headers).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
      expect(stream.messages).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, progress: 1, total: 2, message: 'half' },
        },
        { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 2, total: 2 } },
        { jsonrpc: '2.0', id: 1, result: { content: [] } },
      ]);
    }
  });

  test('is dropped for a client that accepts no stream, and the result still arrives', async () => {
    platform.runtime.answer(async (got, request) => {
      await notify(request, 'notifications/progress', { progressToken: got.progress, progress: 1 });
      return result({ content: [] });
    });
    const body = rpc('tools/call', { name: 'slow', _meta: { progressToken: 1 } }, 1);
    const answer = await send(platform.mcpUrl, {
      key: key.text,
      session,
      body,
      headers: { accept: 'application/json' },
    });
    expect([answer.headers.get('content-type'), answer.body.result]).toEqual(['application/json', { content: [] }]);
  });

  test('a result on several lines is one event', async () => {
    platform.runtime.answer(async (got, request) => {
      await notify(request, 'notifications/progress', { progressToken: got.progress, progress: 1 });
      return { payload: Buffer.from('{\r\n  "content": [\n]\n}\n'), headers: { [callHeader.kind]: 'result' } };
    });
    const body = rpc('tools/call', { name: 'slow', _meta: { progressToken: 1 } }, 1);
    const stream = await openStream(platform.mcpUrl, { key: key.text, session, method: 'POST', body });
    await stream.closed;
    expect(stream.messages.at(-1)).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } });
  });
});

test('log messages arrive from the requested level', async () => {
  platform.runtime.answer(async (_got, request) => {
    for (const level of ['debug', 'warning', 'emergency', 'nonsense']) {
      await notify(request, 'notifications/message', { level, data: level });
    }
    return result({ content: [] });
  });
  const levels = async () => {
    const body = rpc('tools/call', { name: 'slow' });
    const stream = await openStream(platform.mcpUrl, { key: key.text, session, method: 'POST', body });
    await stream.closed;
    return stream.messages.flatMap((message) => Object(message).params?.level ?? []);
  };
  expect(await levels()).toEqual(['debug', 'warning', 'emergency']);
  await send(platform.mcpUrl, { key: key.text, session, body: rpc('logging/setLevel', { level: 'error' }) });
  expect(await levels()).toEqual(['emergency']);
});

describe('cancellation', () => {
  /** Calls that end only when they are cancelled. */
  function hang() {
    const aborted: string[] = [];
    platform.runtime.answer(
      (got, request) =>
        new Promise((_resolve, reject) => {
          request.signal.addEventListener('abort', {
            handleEvent: () => {
              aborted.push(got.session);
              reject(new SvcError('cancelled', 'cancelled'));
            },
          });
        }),
    );
    const before = platform.runtime.calls.length;
    return { aborted, started: (count = 1) => until(() => platform.runtime.calls.length === before + count) };
  }

  test('ends the call at its MCP server, and answers nothing', async () => {
    const { aborted, started } = hang();
    const answer = call('slow', {}, { id: 5 });
    await started();
    expect((await cancel(5)).status).toBe(202);
    expect([(await answer).status, (await answer).text]).toEqual([200, '']);
    await until(() => aborted.length === 1);
  });

  test('of an unknown id, or an id of another type, does nothing', async () => {
    const { aborted, started } = hang();
    const answer = call('slow', {}, { id: 6 });
    await started();
    for (const id of ['6', 7, null, {}, undefined]) expect((await cancel(id)).status).toBe(202);
    expect(aborted).toEqual([]);
    await cancel(6);
    await answer;
    await until(() => aborted.length === 1);
  });

  test('concerns one session, although another session uses the same id', async () => {
    const { aborted, started } = hang();
    const other = await openSession(platform.mcpUrl, key.text);
    const body = rpc('tools/call', { name: 'slow' }, 8);
    const answers = [session, other].map((of) => send(platform.mcpUrl, { key: key.text, session: of, body }));
    await started(2);
    await cancel(8, other);
    await answers[1];
    await until(() => aborted.length > 0);
    expect(aborted).toEqual([other]);
    await cancel(8);
    await answers[0];
  });

  test('reaches a call in progress at another remote-mcp', async () => {
    const another = await platform.startAnother();
    const { aborted, started } = hang();
    const body = rpc('tools/call', { name: 'slow' }, 9);
    const answer = send(`${another.url}/mcp`, { key: key.text, session, body });
    await started();
    await cancel(9);
    await answer;
    expect(aborted).toEqual([session]);
  });

  test('reaches a call that waits for the first catalogue, which is then never made', async () => {
    const gate = await gateTo(platform.backendUrl);
    const another = await platform.startAnother({ PRIVATE_BACKEND_URL: gate.url });
    const url = `${another.url}/mcp`;
    const before = platform.runtime.calls.length;
    const answer = send(url, { key: key.text, session, body: rpc('tools/call', { name: 'slow' }, 14) });
    await until(() => gate.asked() > 0);
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 14 } };
    expect((await send(url, { key: key.text, session, body })).status).toBe(202);
    gate.open();
    expect([(await answer).status, (await answer).text]).toEqual([200, '']);
    expect((await send(url, { key: key.text, session, body: rpc('tools/call', { name: 'slow' }, 14) })).status).toBe(
      200,
    );
    expect(platform.runtime.calls).toHaveLength(before + 1);
    await gate.stop();
  });

  test('an id that is in progress cannot be used again', async () => {
    const { started } = hang();
    const first = call('slow', {}, { id: 10 });
    await started();
    const second = await call('slow', {}, { id: 10 });
    expect(second.body).toMatchObject({ id: 10, error: { code: -32600, message: expect.stringMatching(/under way/) } });
    await cancel(10);
    await first;
    platform.runtime.answer(async () => result({ content: [] }));
    expect((await call('slow', {}, { id: 10 })).body.result).toEqual({ content: [] });
  });

  test('ends the calls of a revoked key, and the agent gets an error; calls of valid keys continue', async () => {
    const { aborted, started } = hang();
    const revoked = await workspace.key('revoked while calling');
    const own = await openSession(platform.mcpUrl, revoked.text);
    const good = call('slow', {}, { id: 15 });
    const bad = send(platform.mcpUrl, {
      key: revoked.text,
      session: own,
      body: rpc('tools/call', { name: 'slow' }, 15),
    });
    await started(2);
    const backendBus = await platform.hub.connect({ kind: 'backend' }, newProcessId());
    const changed = { version: 1, statusVersion: 1, key: key.id };
    backendBus.publish(subjects.event(workspace.id, 'key'), Buffer.from(JSON.stringify(changed)));
    await workspace.revoke(revoked.id);
    const { status, body } = await bad;
    expect([status, body.error]).toMatchObject([401, { code: -31401, message: expect.stringMatching(/was revoked/) }]);
    await until(() => aborted.length > 0);
    expect(aborted).toEqual([own]);
    await cancel(15);
    await good;
    await backendBus.close();
  });

  test('ends the calls of a suspended workspace', async () => {
    const own = await TestWorkspace.create(platform, 'halted');
    await own.mcpServer('halt', [tool('halt')]);
    await own.role('All', [await own.skill('halt', ['halt/halt'])]);
    const { text } = await own.key('agent');
    const of = await openSession(platform.mcpUrl, text);
    const halt = () => send(platform.mcpUrl, { key: text, session: of, body: rpc('tools/call', { name: 'halt' }) });
    await until(async () => isGood(await halt()));
    const { aborted, started } = hang();
    const answer = halt();
    await started();
    await own.suspend(true);
    expect([(await answer).status, (await answer).body.error.code]).toEqual([403, 'forbidden']);
    await until(() => aborted.length === 1);
  });

  test('does not follow from a lost connection (2025-11-25, "Sending Messages to the Server")', async () => {
    const { aborted, started } = hang();
    const controller = new AbortController();
    const body = JSON.stringify(rpc('tools/call', { name: 'slow' }, 11));
    const headers = {
      authorization: `Bearer ${key.text}`,
      'mcp-session-id': session,
      'content-type': 'application/json',
    };
    const lost = fetch(platform.mcpUrl, { method: 'POST', headers, body, signal: controller.signal }).catch(
      () => 'lost',
    );
    await started();
    controller.abort();
    expect(await lost).toBe('lost');
    expect((await call('slow', {}, { id: 11 })).body.error.code).toBe(-32600);
    expect(aborted).toEqual([]);
    await cancel(11);
    await until(() => aborted.length === 1);
  });
});

describe('a call that fails on the way', () => {
  test.each<[string, SvcError | Error, object]>([
    [
      'because the MCP server hangs',
      new SvcError('timeout', 'MCP server "files" gave no answer.', { hint: 'Look at it.' }),
      { code: -31504, message: 'MCP server "files" gave no answer.', data: { code: 'timeout', hint: 'Look at it.' } },
    ],
    [
      'because the MCP server died',
      new SvcError('unavailable', 'MCP server "files" exited.'),
      { code: -31503, message: 'MCP server "files" exited.', data: { code: 'unavailable' } },
    ],
    [
      'because of a bug',
      new Error('the secret is 42'),
      { code: -32603, message: expect.stringMatching(/^Something went wrong inside the platform \(bug \w+\)\.$/) },
    ],
  ])('%s is a named error', async (_what, thrown, error) => {
    platform.runtime.answer(() => Promise.reject(thrown));
    const answer = await call('slow', {}, { id: 12 });
    expect([answer.status, answer.body]).toEqual([
      200,
      { jsonrpc: '2.0', id: 12, error: expect.objectContaining(error) },
    ]);
    expect(answer.text).not.toMatch(/secret|svc\./);
  });

  test('because its runtime ends meanwhile is a named error, at once', async () => {
    const own = await TestWorkspace.create(platform, 'fragile');
    const lonely = await platform.connectRuntime('lonely');
    await own.mcpServer('lone', [tool('lone')], lonely);
    await own.role('All', [await own.skill('lone', ['lone/lone'])]);
    const { text } = await own.key('agent');
    const of = await openSession(platform.mcpUrl, text);
    lonely.answer(() => new Promise(() => undefined));
    const answer = send(platform.mcpUrl, { key: text, session: of, body: rpc('tools/call', { name: 'lone' }, 13) });
    await until(() => lonely.calls.length === 1);
    const backendBus = await platform.hub.connect({ kind: 'backend' }, newProcessId());
    await backendBus.disconnect(lonely.runtime);
    expect((await answer).body).toEqual({
      jsonrpc: '2.0',
      id: 13,
      error: {
        code: -31503,
        message: `The runtime "${lonely.name}" of MCP server "lone" ended before "lone" was answered: the call may have been carried out or not.`,
        data: { code: 'unavailable', hint: expect.stringMatching(/only if doing it twice does no harm/) },
      },
    });
    await backendBus.close();
  });
});

test('of two runtime processes, the one with fewer calls gets the next, and a silent one gets none', async () => {
  const own = await TestWorkspace.create(platform, 'twins');
  const twin = await platform.connectRuntime();
  const id = await own.mcpServer('twin', [tool('twin')]);
  await twin.report(id);
  await own.role('All', [await own.skill('twin', ['twin/twin'])]);
  const { text } = await own.key('agent');
  const of = await openSession(platform.mcpUrl, text);
  const callTwin = () => send(platform.mcpUrl, { key: text, session: of, body: rpc('tools/call', { name: 'twin' }) });
  const release: (() => void)[] = [];
  const hold = () =>
    new Promise<ReturnType<typeof result>>((resolve) => release.push(() => resolve(result({ content: [] }))));
  const counts = () => [platform.runtime, twin].map(({ calls }) => calls.filter((one) => one.mcpServer === id).length);
  await until(async () => isGood(await callTwin()) && counts().every((count) => count > 0));
  platform.runtime.answer(hold);
  twin.answer(hold);
  const before = counts();
  const answers = Array.from({ length: 6 }, callTwin);
  await until(() => release.length === 6);
  expect(counts().map((count, i) => count - (before[i] ?? 0))).toEqual([3, 3]);
  for (const one of release) one();
  for (const answer of await Promise.all(answers)) expect(answer.body.result).toEqual({ content: [] });
  platform.runtime.answer(async () => result({ content: [{ type: 'text', text: 'first' }] }));
  twin.answer(async () => result({ content: [{ type: 'text', text: 'twin' }] }));
  twin.stopBeating();
  const texts = async () =>
    (await Promise.all([1, 2, 3, 4].map(callTwin))).map(({ body }) => body.result.content[0].text);
  await until(async () => (await texts()).every((one) => one === 'first'));
  await twin.stop();
});

test('a call that reaches no listener goes to another runtime process, and is an error only if none accepts it', async () => {
  const own = await TestWorkspace.create(platform, 'nobody');
  const absent = await platform.connectRuntime();
  const id = await own.mcpServer('nobody', [tool('nobody')], absent);
  await own.role('All', [await own.skill('nobody', ['nobody/nobody'])]);
  const { text } = await own.key('agent');
  const of = await openSession(platform.mcpUrl, text);
  const callNobody = () =>
    send(platform.mcpUrl, { key: text, session: of, body: rpc('tools/call', { name: 'nobody' }) });
  await until(async () => isGood(await callNobody()));
  absent.stopBeating();
  await absent.stopAnswering();
  absent.beat(60_000);
  expect((await callNobody()).body.error).toMatchObject({
    code: -31503,
    message: expect.stringMatching(/No runtime has/),
  });
  await platform.runtime.report(id);
  await until(async () => {
    // After its next heartbeat, the process counts as alive again.
    absent.beat(60_000);
    return isGood(await callNobody());
  });
  const answered = platform.runtime.calls.length;
  absent.beat(60_000);
  for (let i = 0; i < 5; i++) expect((await callNobody()).body.result.content).toHaveLength(1);
  expect(platform.runtime.calls).toHaveLength(answered + 5);
});

test('a runtime process that the backend reports as gone gets no call until its next heartbeat', async () => {
  const own = await TestWorkspace.create(platform, 'gone');
  const quiet = await platform.connectRuntime('lonely');
  await own.mcpServer('quiet', [tool('quiet')], quiet);
  await own.role('All', [await own.skill('quiet', ['quiet/quiet'])]);
  const { text } = await own.key('agent');
  const of = await openSession(platform.mcpUrl, text);
  const callQuiet = async () =>
    (await send(platform.mcpUrl, { key: text, session: of, body: rpc('tools/call', { name: 'quiet' }) })).body.result;
  await until(async () => (await callQuiet())?.content.length === 1);
  // Its heartbeat announces a minute of silence, so its silence alone proves nothing.
  quiet.stopBeating();
  quiet.beat(60_000);
  // The heartbeat sent before the end has arrived by now. It must not revive the process.
  expect((await callQuiet()).content).toHaveLength(1);
  const backendBus = await platform.hub.connect({ kind: 'backend' }, newProcessId());
  backendBus.publish(subjects.gone(quiet.runtime, quiet.process), Buffer.from('{}'));
  await until(async () => (await callQuiet()).isError === true);
  expect((await callQuiet()).content[0].text).toMatch(/its runtime "[^"]+" has stopped answering/);
  quiet.beat(60_000);
  await until(async () => (await callQuiet()).isError === undefined);
  await backendBus.close();
});

test('calls and used keys are counted', async () => {
  const backendBus = await platform.hub.connect({ kind: 'backend' }, newProcessId());
  const records: UsageRecord[] = [];
  const consumer = backendBus.stream(streams.usage).consume('test', async (batch) => {
    for (const one of batch) records.push(...JSON.parse(Buffer.from(one).toString()));
  });
  const counted = await workspace.key('counted');
  const of = await openSession(platform.mcpUrl, counted.text);
  const callEcho = () =>
    send(platform.mcpUrl, { key: counted.text, session: of, body: rpc('tools/call', { name: 'echo' }) });
  platform.runtime.answer(async () => result({ content: [] }));
  await callEcho();
  platform.runtime.answer(async () => result({ content: [{ text: '"isError":true' }], isError: true }));
  await callEcho();
  platform.runtime.answer(async () =>
    result({ content: [{ text: '"isError":true' }], structuredContent: { isError: true } }),
  );
  await callEcho();
  platform.runtime.answer(async () => rpcError({ code: 1, message: 'no' }));
  await callEcho();
  const own = () => records.filter(({ key: by }) => by === counted.id);
  const calls = (outcome: string) =>
    own().reduce((sum, { call }) => sum + (call?.outcome === outcome ? call.calls : 0), 0);
  await until(() => calls('ok') + calls('tool_error') + calls('error') === 4);
  expect([calls('ok'), calls('tool_error'), calls('error')]).toEqual([2, 1, 1]);
  expect(own().filter((record) => record.call === undefined)).toHaveLength(1);
  expect(own().at(-1)?.call).toMatchObject({ skill: expect.stringMatching(/^skl_/), durationMs: expect.any(Number) });
  await consumer.stop();
  await backendBus.close();
});
