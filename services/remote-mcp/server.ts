import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { SvcError } from '../contracts/errors.ts';
import { Budget } from '../kit/budget.ts';
import { AdmittedConnections } from '../kit/http/admitted-connections.ts';
import { Connections } from '../kit/http/connections.ts';
import { errorToHttp } from '../kit/http/error-to-http.ts';
import { answerHealth } from '../kit/http/health.ts';
import { inTurn } from '../kit/http/in-turn.ts';
import { Leaving } from '../kit/http/leaving.ts';
import { KeysAddress } from './auth/keys-address.ts';
import { answerMetadata } from './auth/resource-metadata.ts';
import type { RemoteMcp } from './context.ts';
import { McpRoute } from './mcp-route.ts';
import { degraded, missing } from './readiness.ts';

/** Deadlines for receiving a request. `UnreadAnswers` bounds how long an answer may stay unread, and a call may take longer. */
const headersDeadlineMs = 15_000;
const requestDeadlineMs = 60_000;
const deadlinesCheckedEveryMs = 5000;
/** Longer than the timeout of the front and of common proxies, so that no request arrives on a closing connection. */
const keepAliveMs = 75_000;

const connectionsMax = 20_000;
/** Enough for all streams of a key and as many calls in progress. */
const connectionShares = { key: 4000, workspace: 10_000 };

function connectionPlaces() {
  const hint = 'Close connections that are no longer used.';
  return new Budget({ what: 'connections', total: connectionsMax, shares: connectionShares, hint });
}

/** The HTTP server of `/mcp`, `/health` and `/ready`. */
export class RemoteMcpServer {
  readonly server: Server;
  readonly leaving: Leaving;
  readonly #platform: RemoteMcp;
  readonly #route: McpRoute;
  readonly #keysAddress: KeysAddress;

  constructor(platform: RemoteMcp) {
    this.#platform = platform;
    this.#keysAddress = new KeysAddress(platform.config);
    this.server = createServer(
      {
        headersTimeout: headersDeadlineMs,
        requestTimeout: requestDeadlineMs,
        connectionsCheckingInterval: deadlinesCheckedEveryMs,
        keepAliveTimeout: keepAliveMs,
      },
      inTurn((request, response) => this.#answer(request, response)),
    );
    this.leaving = new Leaving(this.server);
    const connections = new Connections(this.server, { admittedMax: connectionsMax });
    this.#route = new McpRoute(platform, {
      connections: new AdmittedConnections(connections, connectionPlaces()),
      keysAddress: this.#keysAddress,
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { link } = this.#platform;
    const url = request.url ?? '';
    this.leaving.asked(request, response);
    if (url === '/mcp' || url.startsWith('/mcp?')) void this.#route.handle(request, response);
    else if (this.#keysAddress.has(request) || !answerMetadata(this.#platform.config, request, response)) {
      const ready = () => missing(link, this.leaving.hasBegun);
      if (!answerHealth(request, response, ready, () => degraded(link))) refuseUnknown(response, url);
    }
  }
}

/** A client of OAuth looks for a sign-in here when its key was refused, and shows this answer instead of the refusal. */
const signIn = /^\/(register|authorize|token)\b/;

function refuseUnknown(response: ServerResponse, url: string): void {
  const error = signIn.test(url)
    ? new SvcError('not_found', 'There is no sign-in here: agents use an API key. The key is missing or was refused.', {
        hint: 'Test the key: svc keys test',
      })
    : new SvcError('not_found', `There is nothing at "${url.slice(0, 200)}".`, { hint: 'Agents connect to /mcp.' });
  const { status, body } = errorToHttp(error);
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
