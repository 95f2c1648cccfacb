// An MCP server that, once it is initialised, says a line of fifty megabytes every half second.
import { createInterface } from 'node:readline';

const long = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${'x'.repeat(50 * 1024 * 1024)}"}}\n`;

function answer(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    answer(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'long-line', version: '1' },
    });
  } else if (method === 'tools/list') {
    answer(id, { tools: [{ name: 'nothing', inputSchema: { type: 'object' } }] });
    setInterval(() => process.stdout.write(long), 500);
  } else if (id !== undefined) answer(id, {});
});
