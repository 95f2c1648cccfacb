import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  getOperationAST,
  parse,
  validate,
} from 'graphql';
import { handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { signedOutCode, tooManyMessagesCode, tryAgainCode } from '../../contracts/close-codes.ts';
import { SvcError } from '../../contracts/errors.ts';
import { randomText } from '../../contracts/ids.ts';
import { graphqlPath } from '../../contracts/token.ts';
import { Budget, type Owner } from '../../kit/budget.ts';
import type { AdmittedConnections } from '../../kit/http/admitted-connections.ts';
import { errorToHttp } from '../../kit/http/error-to-http.ts';
import type { Logger } from '../../kit/log.ts';
import { withBugReported } from '../../kit/report-bug.ts';
import { ownerOf } from '../tokens/owner-of.ts';
import type { UserPrincipal } from '../tokens/verify-token.ts';
import { authenticate } from './authenticate.ts';
import type { GraphqlContext } from './builder.ts';
import { requestContext } from './endpoint.ts';
import { errorToGraphql } from './error-to-graphql.ts';
import type { GraphqlNeeds } from './graphql-needs.ts';
import { checkLimits, limits } from './limits.ts';
import { Operation } from './operation.ts';
import { createSchema } from './schema.ts';

/** A subscription has some hundred bytes. */
const messageMaxBytes = 16 * 1024;
/** A person has some dozens of open pages at most. */
const socketLimits = { total: 2048, shares: { user: 32 } };
const subscriptionsMax = 8;
const mebibyte = 1024 * 1024;
/** Messages that wait for a page to read. A page that reads has some kilobytes of them. */
const unreadLimits = { total: 64 * mebibyte, shares: { page: mebibyte, user: 8 * mebibyte } };
/** A page sends a few messages when it opens. */
const messagesMax = 100;
const messagesPeriodMs = 10_000;
/** Shorter than the idle timeout of common proxies. */
const pingEveryMs = 12_000;
const closeMaxMs = 1000;

interface Surface {
  readonly origins: readonly string[];
  readonly connections: AdmittedConnections<'user'>;
  readonly memory: Budget<'user'>;
}

interface Caller {
  readonly principal: UserPrincipal;
  readonly requestId: string;
}

/** Subscriptions over WebSocket, at the path of GraphQL. The caller authenticates with the request that opens it. */
export class GraphqlSockets {
  readonly #backend: GraphqlNeeds;
  readonly #surface: Surface;
  readonly #logger: Logger;
  readonly #sockets = new WebSocketServer({
    ...{ noServer: true, maxPayload: messageMaxBytes, handleProtocols, perMessageDeflate: false },
  });
  readonly #places: Budget<'user'>;
  readonly #unread = new Budget({ what: 'bytes of unread messages', hint: 'Read each message.', ...unreadLimits });
  #isStopping = false;
  readonly #schema = createSchema();
  readonly #protocol = makeServer<Record<string, unknown>, Caller>({
    onSubscribe: ({ extra, subscriptions }, _id, payload) =>
      this.#subscribe(extra, payload, Object.keys(subscriptions).length),
    subscribe: (args) => this.#follow(args),
  });

  constructor(server: Server, backend: GraphqlNeeds, surface: Surface) {
    this.#backend = backend;
    this.#surface = surface;
    this.#logger = backend.log('graphql');
    const hint = 'Close pages that are no longer used.';
    this.#places = new Budget({ what: 'open pages', hint, ...socketLimits });
    server.on('upgrade', (request, socket, head) => void this.#open(request, socket as Socket, head));
  }

  /** A page connects again, to a backend that runs. One that does not close in time is cut off. */
  stop(): void {
    this.#isStopping = true;
    for (const socket of this.#sockets.clients) {
      socket.close(1001, 'The backend stops.');
      setTimeout(() => socket.terminate(), closeMaxMs).unref();
    }
  }

  async #open(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const requestId = randomText(16);
    socket.on('error', () => socket.destroy());
    try {
      if (request.url?.split('?', 1)[0] !== graphqlPath) throw new SvcError('not_found', 'There is no such WebSocket.');
      if (this.#isStopping) throw new SvcError('unavailable', 'The backend stops.', { hint: 'Connect again.' });
      const principal = await authenticate(this.#backend, request, this.#surface.origins);
      if (principal.kind === 'operator') {
        throw new SvcError('unsupported', 'Only people follow changes.');
      }
      // The client may have left meanwhile: nothing would release its place.
      if (socket.destroyed) return;
      const owner = ownerOf(principal);
      this.#surface.connections.use(socket, owner);
      const place = this.#places.hold(owner, 1);
      socket.once('close', () => place.release());
      socket.setTimeout(0);
      this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#serve(opened, { principal, requestId }));
    } catch (thrown) {
      const { status, body } = errorToHttp(withBugReported(thrown, this.#logger.child({ request: requestId })));
      const text = JSON.stringify(body);
      socket.end(
        [
          `HTTP/1.1 ${status} Refused`,
          'content-type: application/json',
          `content-length: ${Buffer.byteLength(text)}`,
          ...['cache-control: no-store', 'connection: close', '', text],
        ].join('\r\n'),
      );
    }
  }

  #serve(socket: WebSocket, caller: Caller): void {
    // The library then closes the socket with the right code.
    socket.on('error', () => undefined);
    boundMessages(socket);
    keepAlive(socket);
    void this.#endWithSession(socket, caller.principal);
    const owner = { ...ownerOf(caller.principal), page: randomText(16) };
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => this.#send(socket, owner, text),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (hear) =>
          socket.on(
            'message',
            (data) => void hear(String(data)).catch((thrown: unknown) => this.#fail(socket, thrown)),
          ),
      },
      caller,
    );
    socket.once('close', (code, reason) => void closed(code, String(reason)));
  }

  /** Waits until the message has left. A page that does not read is cut off: the end would wait behind the messages. */
  async #send(socket: WebSocket, owner: Owner<'page' | 'user'>, text: string): Promise<void> {
    const bytes = Buffer.byteLength(text);
    if (!this.#unread.hasRoom(owner, bytes)) return socket.terminate();
    const held = this.#unread.hold(owner, bytes);
    await new Promise<void>((resolve) => socket.send(text, () => resolve()));
    held.release();
  }

  #fail(socket: WebSocket, thrown: unknown): void {
    withBugReported(thrown, this.#logger);
    socket.close(tryAgainCode, 'Internal error.');
  }

  async #endWithSession(socket: WebSocket, principal: UserPrincipal): Promise<void> {
    const closed = new AbortController();
    socket.once('close', () => closed.abort());
    try {
      for await (const _change of this.#backend.changes.follow(principal, null, closed.signal));
    } catch (thrown) {
      const { code } = withBugReported(thrown, this.#logger);
      if (code === 'unauthenticated') socket.close(signedOutCode, 'The session has ended.');
      else socket.close(tryAgainCode, 'The changes cannot be followed.');
    }
  }

  /** The checked subscription, or why it is refused. */
  #subscribe({ principal, requestId }: Caller, payload: SubscribePayload, open: number) {
    const refuse = (errors: readonly GraphQLError[]) =>
      errors.map((error) => errorToGraphql(error, requestId, this.#logger));
    try {
      if (open > subscriptionsMax) {
        throw new SvcError('rate_limited', `A page may have ${subscriptionsMax} subscriptions at once.`);
      }
      const document = parse(payload.query, { maxTokens: limits.tokens });
      const errors = validate(this.#schema, document);
      if (errors.length > 0) return refuse(errors);
      const operation = getOperationAST(document, payload.operationName ?? null);
      if (operation?.operation !== 'subscription') {
        throw new SvcError('unsupported', 'Only subscriptions are answered over WebSocket.', {
          hint: `Send queries and mutations with POST ${graphqlPath}.`,
        });
      }
      const variableValues = payload.variables ?? {};
      checkLimits({ schema: this.#schema, document, operation, variables: variableValues });
      const running = new Operation(ownerOf(principal).user, this.#surface.memory.hold(ownerOf(principal), 0));
      const contextValue = requestContext(this.#backend, { principal, requestId, operation: running });
      return {
        schema: this.#schema,
        document,
        operationName: operation.name?.value ?? null,
        variableValues,
        contextValue,
      };
    } catch (thrown) {
      return refuse([
        thrown instanceof GraphQLError ? thrown : new GraphQLError('', { originalError: toError(thrown) }),
      ]);
    }
  }

  /** Executes the selection for each event. Each is an operation of its own, with its own limits. */
  async #follow(args: ExecutionArgs): Promise<AsyncGenerator<ExecutionResult> | ExecutionResult> {
    const context = args.contextValue as GraphqlContext;
    const stream = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in stream)) return this.#shown(stream, context);
    const follow = this.#results(args, stream, context);
    const end = () => context.operation.stop(new SvcError('cancelled', 'The subscription has ended.'));
    const stoppable: AsyncGenerator<ExecutionResult, void, undefined> = {
      next: () => follow.next(),
      // The generator waits for an event, so the signal ends it.
      return: (value) => {
        end();
        return follow.return(value);
      },
      throw: (error) => {
        end();
        return follow.throw(error);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
      [Symbol.asyncDispose]: async () => end(),
    };
    return stoppable;
  }

  async *#results(
    args: ExecutionArgs,
    events: AsyncIterable<unknown>,
    context: GraphqlContext,
  ): AsyncGenerator<ExecutionResult, void, undefined> {
    const { principal, requestId } = context;
    try {
      for await (const rootValue of events) {
        const held = this.#surface.memory.hold(ownerOf(principal), 0);
        const operation = new Operation(ownerOf(principal).user, held);
        const contextValue = requestContext(this.#backend, { principal, requestId, operation });
        const result = await execute({ ...args, rootValue, contextValue });
        held.release();
        yield this.#shown(result, context);
      }
    } catch (thrown) {
      yield this.#shown({ errors: [new GraphQLError('', { originalError: toError(thrown) })] }, context);
    }
  }

  #shown(result: ExecutionResult, { requestId }: GraphqlContext): ExecutionResult {
    if (result.errors === undefined) return result;
    return { ...result, errors: result.errors.map((error) => errorToGraphql(error, requestId, this.#logger)) };
  }
}

/** Ends a connection whose other end has vanished, and keeps proxies from ending it. */
function keepAlive(socket: WebSocket): void {
  let isAlive = true;
  const pinging = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, pingEveryMs);
  socket.on('pong', () => {
    isAlive = true;
  });
  socket.once('close', () => clearInterval(pinging));
}

/**
 * A page that sends more messages is not one of ours. Nothing more is read from it, so it cannot delay the end by its
 * part of the closing handshake (RFC 6455 §7.1.5).
 */
function boundMessages(socket: WebSocket): void {
  let messages = 0;
  let since = performance.now();
  socket.on('message', () => {
    const now = performance.now();
    if (now - since > messagesPeriodMs) [messages, since] = [0, now];
    messages += 1;
    if (messages <= messagesMax) return;
    socket.removeAllListeners('message');
    socket.close(tooManyMessagesCode, 'Too many messages.');
    socket.pause();
    setTimeout(() => socket.terminate(), closeMaxMs).unref();
  });
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
