import { createServer, type Server } from 'node:http';
import { SvcError } from '../contracts/errors.ts';
import { errorToHttp } from '../kit/http/error-to-http.ts';
import { answerHealth } from '../kit/http/health.ts';
import type { RemoteMcp } from './context.ts';
import { McpRoute } from './http/mcp-route.ts';
import { degraded, missing } from './readiness.ts';

/** A client that sends slowly is let go; answers may take as long as they need. */
const headersDeadlineMs = 15_000;
const requestDeadlineMs = 60_000;
const deadlinesCheckedEveryMs = 5000;
/** Longer than the front's or any usual proxy's, so that no request meets a connection that is being closed. */
const keepAliveMs = 75_000;
const connectionsMax = 20_000;

export interface RemoteMcpServer {
  readonly server: Server;
  /** From now on answers ask their clients to connect anew, and `/ready` says that no more should come. */
  beginStopping(): void;
}

export function createRemoteMcpServer(platform: RemoteMcp): RemoteMcpServer {
  const route = new McpRoute(platform);
  const { link } = platform;
  let isStopping = false;
  const server = createServer(
    {
      headersTimeout: headersDeadlineMs,
      requestTimeout: requestDeadlineMs,
      connectionsCheckingInterval: deadlinesCheckedEveryMs,
      keepAliveTimeout: keepAliveMs,
    },
    (request, response) => {
      if (isStopping) response.shouldKeepAlive = false;
      const url = request.url ?? '';
      if (url === '/mcp' || url.startsWith('/mcp?')) {
        void route.handle(request, response);
      } else if (
        !answerHealth(
          request,
          response,
          () => missing(link, isStopping),
          () => degraded(link),
        )
      ) {
        const refusal = errorToHttp(
          new SvcError('not_found', `There is nothing at "${url.slice(0, 200)}".`, { hint: 'Agents connect to /mcp.' }),
        );
        const body = JSON.stringify(refusal.body);
        response.writeHead(refusal.status, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        });
        response.end(body);
      }
    },
  );
  server.maxConnections = connectionsMax;
  return {
    server,
    beginStopping: () => {
      isStopping = true;
    },
  };
}
