import { describe, expect, test } from 'vitest';
import type { Reason } from '../../contracts/bus/messages.ts';
import { newId } from '../../contracts/ids.ts';
import { createLog } from '../../kit/log.ts';
import type { Channel, ChannelListener } from '../launchers/channel.ts';
import { createHttpLauncher, type HttpLauncherOptions } from '../launchers/http.ts';
import { writeNotification, writeRequest } from '../wire/write-message.ts';
import { type Answer, answerJson, event, eventStream, type HttpMcpServer, httpMcpServer } from './http-mcp-server.ts';

const silent = createLog({ service: 'runtime', level: 'error', destination: { write: () => {} } });

/** The user of a channel, without any layer between: messages are sent at once. */
class User implements AsyncDisposable {
  readonly ended = Promise.withResolvers<Reason>();
  readonly renewed = Promise.withResolvers<void>();
  readonly #answers = new Map<number, PromiseWithResolvers<string>>();
  #channel!: Channel;
  #lastId = 0;

  static async open(server: HttpMcpServer, options: Partial<HttpLauncherOptions> = {}): Promise<User> {
    const user = new User();
    const launch = createHttpLauncher({ inherited: {}, allowedAddresses: [], log: silent, ...options });
    const about = {
      mcpServer: newId('mcpServer'),
      workspace: newId('workspace'),
      name: 'one',
      setBy: 'operator' as const,
    };
    const order = { ...about, launch: server.launch(), listener: user.#listener() };
    const launched = await launch(order);
    if (!launched.ok) throw new Error(launched.reason.message);
    user.#channel = launched.channel;
    await user.ask('initialize').answer;
    const method = 'notifications/initialized';
    user.#channel.send(writeNotification(method), { kind: 'notification', method });
    return user;
  }

  ask(method: string, params: unknown = {}): { id: number; answer: Promise<string> } {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<string>();
    this.#answers.set(id, answer);
    this.#channel.send(writeRequest(id, method, Buffer.from(JSON.stringify(params))), { kind: 'request', id, method });
    return { id, answer: answer.promise };
  }

  forget(id: number): void {
    this.#channel.forget(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#channel.stop();
  }

  #listener(): ChannelListener {
    return {
      message: (text, during) => {
        if (during !== null) this.#answers.get(during)?.resolve(text.toString());
        return true;
      },
      lost: (id, error) => this.#answers.get(id)?.reject(error),
      garbage: () => {},
      renewed: () => this.renewed.resolve(),
      ended: (reason) => this.ended.resolve(reason),
    };
  }
}

const greeting = { protocolVersion: '2025-11-25', capabilities: { tools: {} } };

/** An MCP server that forgets its session on command. A test decides its answer to the second `initialize`. */
async function forgetful(again: Answer) {
  let session = 'first';
  const asked = Promise.withResolvers<void>();
  const server = await httpMcpServer(async (message, request, response) => {
    const { id, method } = message;
    if (method === 'initialize' && session === 'first') {
      answerJson(response, id, greeting, { 'mcp-session-id': session });
    } else if (method === 'initialize') {
      asked.resolve();
      await again(message, request, response);
      if (!response.headersSent) answerJson(response, id, greeting, { 'mcp-session-id': session });
    } else if (request.headers['mcp-session-id'] === undefined) {
      response.writeHead(400).end('Mcp-Session-Id header is required');
    } else if (request.headers['mcp-session-id'] !== session) {
      response.writeHead(404).end();
    }
  });
  const forget = () => {
    session = 'second';
  };
  return { server, forget, askedAgain: asked.promise };
}

const params = (i: number) => ({ name: 'echo', arguments: { i } });

describe('while a lost session is renewed', () => {
  /** A first call has found the session forgotten, and the second `initialize` gets no answer until it is released. */
  async function heldUp() {
    const stack = new AsyncDisposableStack();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { server, forget, askedAgain } = await forgetful(() => released);
    stack.use(server);
    const user = stack.use(await User.open(server));
    await user.ask('ping').answer;
    forget();
    const first = user.ask('tools/call', params(1));
    await askedAgain;
    const sent = () => server.asked.filter(({ message }) => message?.method === 'tools/call');
    return { user, first, release, sent, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  test('calls wait for it', async () => {
    await using held = await heldUp();
    const { user, first, release } = held;
    const second = user.ask('tools/call', params(2));
    release();
    expect(await first.answer).toContain('{\\"i\\":1}');
    expect(await second.answer).toContain('{\\"i\\":2}');
    expect(held.sent().map(({ headers }) => headers['mcp-session-id'])).toEqual(['first', 'second', 'second']);
  });

  test('an abandoned call is not sent any more', async () => {
    await using held = await heldUp();
    const { user, first, release } = held;
    user.forget(user.ask('tools/call', params(2)).id);
    const last = user.ask('tools/call', params(3));
    release();
    await Promise.all([first.answer, last.answer]);
    const given = held.sent().map(({ message }) => JSON.stringify(message?.params?.arguments));
    expect(given.toSorted()).toEqual(['{"i":1}', '{"i":1}', '{"i":3}']);
  });

  test('a stream that stays open after the answer delays nothing', async () => {
    const { server, forget } = await forgetful(({ id }, _request, response) => {
      response.writeHead(200, { ...eventStream, 'mcp-session-id': 'second' });
      response.write(event({ method: 'notifications/message' }) + event({ id, result: greeting }));
    });
    using _server = server;
    await using user = await User.open(server);
    forget();
    expect(await user.ask('tools/call', params(1)).answer).toContain('{\\"i\\":1}');
    await user.renewed.promise;
  });
});

describe('a session that cannot be renewed ends the channel', () => {
  const error = { code: -32603, message: 'not now' };
  test.each<[string, Answer, Partial<Reason>]>([
    [
      'because no answer comes',
      () => new Promise(() => {}),
      { code: 'session_lost', message: match('within 0.2 seconds') },
    ],
    [
      'because of an answer that begins and does not end',
      (_message, _request, response) => {
        response.writeHead(200, eventStream).flushHeaders();
      },
      { code: 'session_lost', message: match('within 0.2 seconds') },
    ],
    ['because it is refused', (_message, _request, response) => response.writeHead(500).end(), { code: 'failing' }],
    ['because the connection breaks', (_m, { socket }) => socket.destroy(), { code: 'session_lost' }],
    [
      'because of an error',
      ({ id }, _q, response) => response.end(JSON.stringify({ id, error })),
      { code: 'session_lost' },
    ],
    [
      'because of another revision',
      ({ id }, _request, response) => answerJson(response, id, { ...greeting, protocolVersion: '2025-06-18' }),
      { code: 'session_lost' },
    ],
  ])('%s', async (_name, again, reason) => {
    const { server, forget } = await forgetful(again);
    using _server = server;
    await using user = await User.open(server, { renewalMaxMs: 200 });
    await user.ask('ping').answer;
    forget();
    user.ask('tools/call', params(1));
    expect(await user.ended.promise).toMatchObject(reason);
  });
});

function match(part: string): string {
  return expect.stringContaining(part);
}
