// The command line of MCP Inspector. Without --stored-auth-only, it asks for a sign-in after a refused key.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const { CLIENTS: folder = '', PLATFORM: url = '', SVC_API_KEY: key = '' } = process.env;
const program = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const target = ['--cli', url, '--transport', 'http', '--header', `Authorization: Bearer ${key}`, '--stored-auth-only'];
const ask = (...words) =>
  JSON.parse(execFileSync(process.execPath, [program, ...target, '--method', ...words], { encoding: 'utf8' }));
const { tools } = ask('tools/list');
const { content } = ask('tools/call', '--tool-name', 'add', '--tool-arg', 'a=40', '--tool-arg', 'b=2');
process.stdout.write(JSON.stringify({ tools: tools.map(({ name }) => name), answer: content[0].text }));
