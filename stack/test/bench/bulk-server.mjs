// An MCP server with as many tools as its argument says, for measuring what a long list costs. With `loud`, it says a line of fifty megabytes
// every half second once its tools were listed.
import { createInterface } from 'node:readline';

const [, , count = '0', loud] = process.argv;
const pageSize = 1000;
const made = Date.now();

function answer(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}

function sayWithoutEnd() {
  const params = { level: 'info', data: 'x'.repeat(50 * 1024 * 1024) };
  const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params })}\n`;
  setInterval(() => process.stdout.write(line), 500);
}

function page(cursor) {
  const start = Number(cursor ?? 0);
  const tools = Array.from({ length: Math.min(pageSize, Number(count) - start) }, (_, i) => ({
    name: `tool_${start + i}`,
    description: `The tool of number ${start + i}, made at ${made}, which does what a tool of its kind does.`,
    inputSchema: {
      type: 'object',
      properties: { message: { type: 'string', description: 'What to say' } },
      required: ['message'],
    },
  }));
  const next = start + pageSize;
  return next < Number(count) ? { tools, nextCursor: String(next) } : { tools };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    answer(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'bulk', version: '1' },
    });
  } else if (method === 'tools/list') {
    answer(id, page(params?.cursor));
    if (loud === 'loud') sayWithoutEnd();
  } else answer(id, {});
});
