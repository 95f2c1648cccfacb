// The minimal MCP server on stdio that the test children share.

import { createInterface } from 'node:readline';

export const echo = {
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

export function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

export const text = (said) => ({ content: [{ type: 'text', text: said }] });

/** `handlers` answer methods by name: their return value is the result, undefined leaves the request unanswered. */
export function serve(handlers = {}) {
  const all = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'test', version: '1' },
    }),
    'tools/list': () => ({ tools: [echo] }),
    'tools/call': ({ arguments: { text: said } }) => text(String(said)),
    ping: () => ({}),
    ...handlers,
  };
  const lines = createInterface({ input: process.stdin });
  lines.on('line', async (line) => {
    const { id, method, params } = JSON.parse(line);
    const handler = all[method];
    if (id === undefined) return handler?.(params);
    if (handler === undefined) return send({ id, error: { code: -32601, message: `There is no ${method}.` } });
    const result = await handler(params ?? {}, id);
    if (result !== undefined) send({ id, result });
  });
  return lines;
}
