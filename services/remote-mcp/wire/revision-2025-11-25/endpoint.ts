import type { Principal } from '../../../contracts/bus/messages.ts';
import { type ErrorCode, SvcError } from '../../../contracts/errors.ts';
import type { Held } from '../../../kit/budget.ts';
import { HttpRefusal } from '../../../kit/http/http-refusal.ts';
import { readBody } from '../../../kit/http/read-body.ts';
import { withBugReported } from '../../../kit/report-bug.ts';
import { type Accepts, checkContent, readAccept } from '../../http/accept.ts';
import type { Exchange } from '../../http/exchange.ts';
import { findProtocolVersion, protocolVersions } from '../../sessions/protocol.ts';
import type { Session } from '../../sessions/session.ts';
import type { WireParts } from '../wire-parts.ts';
import { errorResponse, jsonRpcCodes } from './error-to-json-rpc.ts';
import { type Invalid, type Params, type RpcMessage, type RpcRequest, readMessage } from './message.ts';
import { notificationMethods, requestMethods } from './methods.ts';
import { RpcAnswer } from './rpc-answer.ts';

/** Streamable HTTP of the revisions with sessions (2025-11-25, "Transports"), for requests whose key and origin are good. */
export class Endpoint {
  readonly #platform: WireParts;

  constructor(platform: WireParts) {
    this.#platform = platform;
  }

  /** POST: one message. */
  async post(exchange: Exchange, principal: Principal): Promise<void> {
    const accepts = readAccept(exchange.header('accept'));
    checkContent(exchange.header('content-type'), exchange.header('content-encoding'));
    // Held until the message is answered. A call continues after its client has disconnected.
    const held = this.#platform.memory.hold(principal, 0);
    try {
      const message = await this.#read(exchange, principal, held);
      if (message !== null) await this.#take(exchange, principal, { message, accepts });
    } finally {
      held.release();
    }
  }

  async #read({ request }: Exchange, { workspace }: Principal, held: Held): Promise<RpcMessage | Invalid | null> {
    const body = await readBody(request, held);
    if (body === null) return null;
    return this.#platform.largeMessages.read(workspace, body.length, () => readMessage(body, held));
  }

  async #take(
    exchange: Exchange,
    principal: Principal,
    { message, accepts }: { readonly message: RpcMessage | Invalid; readonly accepts: Accepts },
  ): Promise<void> {
    switch (message.kind) {
      case 'request':
        return await this.#answer(exchange, principal, { message, accepts });
      case 'notification': {
        const session = await this.#session(exchange, principal, 'null');
        if (session === null) return;
        if (notificationMethods.get(message.method) === 'cancels') this.#cancel(session, message.params);
        return exchange.empty(202);
      }
      case 'response':
        if ((await this.#session(exchange, principal, 'null')) !== null) exchange.empty(202);
        return;
      case 'invalid': {
        const { code, message: text, hint, idText } = message;
        const error = { code, message: text, ...(hint === undefined ? {} : { data: { hint } }) };
        return exchange.json(400, errorResponse(idText, error));
      }
    }
  }

  /** GET: a stream for messages that belong to no request. */
  async listen(exchange: Exchange, principal: Principal): Promise<void> {
    const { streams, listChanges, catalogues } = this.#platform;
    if (!readAccept(exchange.header('accept')).events) {
      throw new HttpRefusal('unsupported', 'A stream has the type text/event-stream.', { status: 406 });
    }
    const session = await this.#session(exchange, principal, 'null');
    if (session === null) return;
    streams.checkRoom(principal);
    const stream = exchange.stream();
    stream.keepAlive();
    streams.add({ stream, session, principal, authorization: exchange.header('authorization') });
    // Changes from before the stream are announced now, or with the first catalogue.
    if (catalogues.now(principal.workspace) !== null) listChanges.ofSession(session.id);
  }

  /** DELETE: the end of the session. */
  async end(exchange: Exchange, principal: Principal): Promise<void> {
    const session = await this.#session(exchange, principal, 'null');
    if (session === null) return;
    await this.#platform.sessions.end(session);
    exchange.empty(204);
  }

  async #answer(
    exchange: Exchange,
    principal: Principal,
    { message, accepts }: { readonly message: RpcRequest; readonly accepts: Accepts },
  ): Promise<void> {
    const answer = new RpcAnswer(exchange, accepts, message.idText);
    const method = requestMethods.get(message.method);
    try {
      if (
        method?.kind === 'open' &&
        (message.method === 'initialize' || exchange.header(sessionHeader) === undefined)
      ) {
        return await method.handle(this.#platform, { exchange, principal, message, answer });
      }
      const session = await this.#session(exchange, principal, message.idText);
      if (session === null) return;
      if (method === undefined || method.kind === 'later') {
        return answer.error({
          code: jsonRpcCodes.method,
          message: `Method not found: ${JSON.stringify(message.method.slice(0, 200))}`,
        });
      }
      await method.handle(this.#platform, { exchange, principal, message, answer, session });
    } catch (thrown) {
      // Ids outside the key, and mistakes in the address, refuse the whole HTTP request.
      if (thrown instanceof HttpRefusal || (thrown instanceof SvcError && thrown.code === 'forbidden')) throw thrown;
      const error = withBugReported(thrown, this.#platform.log('http'));
      answer.fail(error, statusOfFailure[error.code]);
    }
  }

  /** The session that the request names. Null if there is none; then the request has been refused. */
  async #session(exchange: Exchange, principal: Principal, idText: string): Promise<Session | null> {
    const id = exchange.header(sessionHeader);
    const version = exchange.header('mcp-protocol-version');
    if (version !== undefined && findProtocolVersion(version) === null) {
      const message = `MCP-Protocol-Version "${version.slice(0, 40)}" is not supported.`;
      const error = { code: jsonRpcCodes.request, message, data: { supported: protocolVersions } };
      exchange.json(400, errorResponse(idText, error));
      return null;
    }
    if (id === undefined) {
      const message = 'The request has no Mcp-Session-Id.';
      const hint = 'Initialize a session, and send its Mcp-Session-Id with each request.';
      exchange.json(400, errorResponse(idText, { code: jsonRpcCodes.request, message, data: { hint } }));
      return null;
    }
    const found = this.#platform.sessions.find(id, principal.key);
    const session = found instanceof Promise ? await found : found;
    if (session !== null) return session;
    const message = 'There is no such session: it has ended, or was idle for too long.';
    const error = { code: jsonRpcCodes.request, message, data: { code: 'not_found', hint: 'Initialize a new one.' } };
    exchange.json(404, errorResponse(idText, error));
    return null;
  }

  /** An unknown id is not an error: the request may just have been answered (2025-11-25, "Cancellation", "Error Handling"). */
  #cancel(session: Session, { requestId }: Params): void {
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    const call = session.findCall(requestId);
    if (call !== undefined) call.cancel();
    else this.#platform.messages.tell(session.id, { kind: 'cancel', request: requestId });
  }
}

const sessionHeader = 'mcp-session-id';

/** The HTTP status of a failed request. Failures that belong to MCP have status 200. */
const statusOfFailure: Readonly<Record<ErrorCode, number>> = {
  invalid_input: 200,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 200,
  too_large: 200,
  rate_limited: 429,
  timeout: 200,
  unavailable: 503,
  unsupported: 200,
  cancelled: 200,
  internal: 200,
};
