import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Message = { id?: number; method: string; params?: Record<string, unknown> };
export type Answer = (message: Message, request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * An MCP server over Streamable HTTP whose answers a test decides; the return value of `answer` is the result,
 * undefined: it wrote itself.
 */
export async function httpMcpServer(answer: Answer = () => undefined) {
  const asked: { method: string; message: Message | null; headers: IncomingMessage['headers'] }[] = [];
  const usual: Record<string, (message: Message) => unknown> = {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} }),
    'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: {} }] }),
    'tools/call': ({ params }) => ({ content: [{ type: 'text', text: JSON.stringify(params?.arguments) }] }),
    ping: () => ({}),
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const message: Message | null = body === '' ? null : JSON.parse(body);
    asked.push({ method: request.method ?? '', message, headers: request.headers });
    const result = await answer(message ?? { method: request.method ?? '' }, request, response);
    if (response.headersSent || response.writableEnded || response.closed) return;
    if (message === null) response.writeHead(405).end();
    else if (message.id === undefined) response.writeHead(202).end();
    else answerJson(response, message.id, result ?? usual[message.method]?.(message));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return {
    asked,
    launch: (headers: Record<string, string> = {}) => ({
      kind: 'http' as const,
      url: `http://127.0.0.1:${port}/mcp`,
      headers,
    }),
    close,
    [Symbol.dispose]: close,
  };
}

export function answerJson(response: ServerResponse, id: number | undefined, result: unknown, headers = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

export const event = (message: unknown) =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...(message as object) })}\n\n`;
export const eventStream = { 'content-type': 'text/event-stream' };

export type HttpMcpServer = Awaited<ReturnType<typeof httpMcpServer>>;
