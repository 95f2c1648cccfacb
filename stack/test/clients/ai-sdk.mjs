// The MCP client of the AI SDK, as an application uses it.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { CLIENTS: folder = '', PLATFORM: url = '', SVC_API_KEY: key = '' } = process.env;
const { createMCPClient } = await import(createRequire(join(folder, 'package.json')).resolve('@ai-sdk/mcp'));
const headers = { Authorization: `Bearer ${key}` };
const client = await createMCPClient({ transport: { type: 'http', url, headers } });
const tools = await client.tools();
const { content } = await tools.add.execute({ a: 40, b: 2 }, { toolCallId: '1', messages: [] });
process.stdout.write(JSON.stringify({ tools: Object.keys(tools), answer: content[0].text }));
await client.close();
