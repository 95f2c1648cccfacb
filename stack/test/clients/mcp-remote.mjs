// A client that knows only stdio, and reaches the platform through mcp-remote.
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { CLIENTS: folder = '', PLATFORM: url = '', SVC_API_KEY: key = '', HOME = '', PATH = '' } = process.env;
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [
    join(folder, 'node_modules/mcp-remote/dist/proxy.js'),
    ...[url, '--header', `Authorization:\${AUTHORIZATION}`, '--transport', 'http-only'],
  ],
  // It writes a sign-in into its home, and would open a browser.
  env: { PATH, HOME, AUTHORIZATION: `Bearer ${key}` },
});
const client = new Client({ name: 'desktop', version: '1' });
await client.connect(transport);
const { tools } = await client.listTools();
const { content } = await client.callTool({ name: 'add', arguments: { a: 40, b: 2 } });
process.stdout.write(JSON.stringify({ tools: tools.map(({ name }) => name), answer: content[0].text }));
await client.close();
