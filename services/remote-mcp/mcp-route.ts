import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SvcError } from '../contracts/errors.ts';
import { BoundedLog } from '../kit/bounded-log.ts';
import { giveWay } from '../kit/give-way.ts';
import type { AdmittedConnections } from '../kit/http/admitted-connections.ts';
import { HttpRefusal } from '../kit/http/http-refusal.ts';
import { RefusedBodies } from '../kit/http/refused-bodies.ts';
import { withBugReported } from '../kit/report-bug.ts';
import { type KeysAddress, keysChallengeOf } from './auth/keys-address.ts';
import { refuseSuspended } from './auth/refusals.ts';
import { challengeOf, stepUpChallengeOf } from './auth/resource-metadata.ts';
import type { RemoteMcp } from './context.ts';
import { strangers } from './http/agent-memory.ts';
import { Exchange } from './http/exchange.ts';
import { Origins, preflightHeaders } from './http/origins.ts';
import { RequestIds } from './http/request-id.ts';
import { UnreadAnswers } from './http/unread-answers.ts';
import { InsufficientScope } from './tools/check-scope.ts';
import { Endpoint } from './wire/revision-2025-11-25/endpoint.ts';
import { errorResponse, errorToJsonRpc } from './wire/revision-2025-11-25/error-to-json-rpc.ts';

const methods = 'GET, POST, DELETE, OPTIONS';

/**
 * A client that sent a message with a wrong key shows the text of a JSON-RPC error. Of another body, the Python SDK shows
 * only that there was one.
 */
function isRefusedKey({ method }: IncomingMessage, { code }: SvcError): boolean {
  return method === 'POST' && code === 'unauthenticated';
}

function asResponse(error: SvcError): string {
  return errorResponse('null', errorToJsonRpc(error));
}

export interface RouteOptions {
  readonly connections: AdmittedConnections<'key' | 'workspace'>;
  readonly keysAddress: KeysAddress;
}

/** `/mcp`: checks each request in the order of architecture §2 (key, origin, method) and hands it to the endpoint. */
export class McpRoute {
  readonly #platform: RemoteMcp;
  readonly #endpoint: Endpoint;
  readonly #origins: Origins;
  readonly #requestIds: RequestIds;
  readonly #refusals: BoundedLog;
  readonly #unread: UnreadAnswers;
  readonly #refusedBodies = new RefusedBodies();
  readonly #connections: AdmittedConnections<'key' | 'workspace'>;
  readonly #keysAddress: KeysAddress;

  constructor(platform: RemoteMcp, { connections, keysAddress }: RouteOptions) {
    const { SVC_ALLOWED_ORIGINS: allowed, SVC_PREVENT_DNS_REBINDING: validated } = platform.config;
    this.#platform = platform;
    this.#connections = connections;
    this.#keysAddress = keysAddress;
    this.#endpoint = new Endpoint(platform);
    this.#origins = new Origins({ allowed, validated });
    this.#requestIds = new RequestIds();
    this.#refusals = new BoundedLog(platform.log('http'), { level: 'info' });
    this.#unread = new UnreadAnswers({ memory: platform.memory, refusals: this.#refusals });
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin } = request.headers;
    const id = this.#requestIds.for(request.headers['x-request-id']);
    const exchange = new Exchange(request, response, {
      ...{ id, cors: this.#origins.headers(origin), unread: this.#unread },
      challenge: (authorization) =>
        this.#keysAddress.has(request)
          ? keysChallengeOf(authorization)
          : challengeOf(this.#platform.config, authorization),
    });
    try {
      if (request.method === 'OPTIONS') this.#preflight(exchange, origin);
      else await this.#serve(exchange, origin);
    } catch (thrown) {
      const error = this.#withChallenge(withBugReported(thrown, this.#platform.log('http')));
      // Requests without a valid key must not delay others.
      if (error.code === 'unauthenticated') await giveWay();
      this.#note(exchange, error);
      this.#refusedBodies.drop(request);
      // After the answer has begun, only its end can be sent.
      if (response.headersSent) response.end();
      else exchange.refuse(error, isRefusedKey(request, error) ? asResponse(error) : undefined);
    }
  }

  async #serve(exchange: Exchange, origin: string | undefined): Promise<void> {
    const { headers, socket } = exchange.request;
    const waiter = { socket, isChunked: headers['transfer-encoding'] !== undefined };
    if (this.#keysAddress.has(exchange.request)) this.#keysAddress.refuseToken(headers.authorization);
    const found = this.#platform.principals.authenticate(headers.authorization, waiter);
    const principal = found instanceof Promise ? await found : found;
    exchange.owner = principal;
    this.#origins.check(origin);
    refuseSuspended(principal);
    this.#connections.use(socket, principal);
    switch (exchange.request.method) {
      case 'POST':
        return await this.#endpoint.post(exchange, principal);
      case 'GET':
        return await this.#endpoint.listen(exchange, principal);
      case 'DELETE':
        return await this.#endpoint.end(exchange, principal);
      default:
        throw new HttpRefusal('unsupported', `"${exchange.request.method}" is not a method of /mcp: ${methods}.`, {
          status: 405,
          headers: ['allow', methods],
        });
    }
  }

  /** A client asks its person for more when a refusal names the missing scope. */
  #withChallenge(error: SvcError): SvcError {
    if (!(error instanceof InsufficientScope)) return error;
    const headers = ['www-authenticate', stepUpChallengeOf(this.#platform.config)];
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    return new HttpRefusal(error.code, error.message, { status: 403, headers, ...hint });
  }

  /**
   * Logs the refused client and the reason, for the operator. Clients without a valid key share the log lines of one
   * workspace.
   */
  #note({ id, owner, request }: Exchange, { code, message }: SvcError): void {
    const from = request.socket.remoteAddress;
    const { method } = request;
    const key = owner === strangers ? {} : { key: owner.key };
    this.#refusals.write(
      { sender: `${code} ${owner.key}`, workspace: owner.workspace },
      { request: id, method, from, ...key, code, why: message },
      'refused a request',
    );
  }

  /** Browsers send a preflight without the key (Fetch standard, "CORS-preflight fetch"), so only this request needs none. */
  #preflight(exchange: Exchange, origin: string | undefined): void {
    this.#origins.check(origin);
    exchange.empty(204, ['allow', methods, ...(origin === undefined ? [] : preflightHeaders)]);
  }
}
