// An MCP server with as many tools as its argument says, for measuring what a long list costs.
import { createInterface } from 'node:readline';

const count = Number(process.argv[2]);
const pageSize = 1000;
const made = Date.now();

function answer(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}

function page(cursor) {
  const start = Number(cursor ?? 0);
  const tools = Array.from({ length: Math.min(pageSize, count - start) }, (_, i) => ({
    name: `tool_${start + i}`,
    description: `The tool of number ${start + i}, made at ${made}, which does what a tool of its kind does.`,
    inputSchema: {
      type: 'object',
      properties: { message: { type: 'string', description: 'What to say' } },
      required: ['message'],
    },
  }));
  const next = start + pageSize;
  return next < count ? { tools, nextCursor: String(next) } : { tools };
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
  } else if (method === 'tools/list') answer(id, page(params?.cursor));
  else answer(id, {});
});
