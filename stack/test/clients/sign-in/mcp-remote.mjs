// A client that knows only stdio. mcp-remote signs in for it.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { CLIENTS: folder = '', PLATFORM: url = '', CALLBACK: callback = '', HOME = '', PATH = '' } = process.env;
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [
    join(folder, 'node_modules/mcp-remote/dist/proxy.js'),
    url,
    new URL(callback).port,
    '--transport',
    'http-only',
  ],
  // Without it, a browser would open.
  env: { PATH, HOME, BROWSER: 'true' },
});
const client = new Client({ name: 'desktop', version: '1' });
await client.connect(transport);
const { tools } = await client.listTools();
const { content } = await client.callTool({
  name: 'call_tool',
  arguments: { name: 'add', arguments: { a: 40, b: 2 } },
});
process.stdout.write(JSON.stringify({ tools: tools.map(({ name }) => name), answer: content[0].text }));
await client.close();
