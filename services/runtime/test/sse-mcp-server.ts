import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { event, eventStream, type Message } from './http-mcp-server.ts';

export interface SseServerOptions {
  /** Data of the event `endpoint`; undefined: no such event. */
  readonly address?: (port: number) => string | undefined;
  /** Undefined: the usual result. */
  readonly answer?: (message: Message, stream: ServerResponse) => unknown;
  /** Status of a POST to the URL itself. */
  readonly refusal?: number;
}

/** An MCP server over HTTP+SSE (MCP 2024-11-05), whose URL is /sse. */
export async function sseMcpServer({
  address = () => '/messages?session=1',
  answer,
  refusal = 405,
}: SseServerOptions = {}) {
  const asked: { method: string; url: string; message: Message | null; headers: IncomingMessage['headers'] }[] = [];
  const streams: ServerResponse[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url = '', headers } = request;
    const message: Message | null = body === '' ? null : JSON.parse(body);
    asked.push({ method, url, message, headers });
    if (url === '/sse' && method === 'GET') {
      response.writeHead(200, eventStream);
      response.flushHeaders();
      streams.push(response);
      const data = address((server.address() as AddressInfo).port);
      if (data !== undefined) response.write(`event: endpoint\r\ndata: ${data}\r\n\r\n`);
      return;
    }
    const stream = streams.at(-1);
    if (!url.startsWith('/messages') || message === null || stream === undefined) {
      response.writeHead(refusal).end('Cannot POST /sse');
      return;
    }
    response.writeHead(202).end('Accepted');
    if (message.id === undefined) return;
    const result = (await answer?.(message, stream)) ?? usual[message.method]?.(message);
    if (result !== null) stream.write(event({ id: message.id, result }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked,
    streams,
    launch: (headers: Record<string, string> = {}) => ({
      kind: 'http' as const,
      url: `http://127.0.0.1:${port}/sse`,
      headers,
    }),
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const usual: Record<string, (message: Message) => unknown> = {
  initialize: () => ({ protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: {} }),
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: {} }] }),
  'tools/call': ({ params }) => ({ content: [{ type: 'text', text: JSON.stringify(params?.arguments) }] }),
  ping: () => ({}),
};
