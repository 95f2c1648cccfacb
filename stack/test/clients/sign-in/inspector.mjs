// The command line of MCP Inspector: it signs in for the first method, and uses what it has kept for the second.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const { CLIENTS: folder = '', PLATFORM: url = '', CALLBACK: callback = '' } = process.env;
const program = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const target = ['--cli', url, '--transport', 'http', '--callback-url', callback, '--format', 'json'];

function ask(...words) {
  // It writes the address of the sign-in to stderr, and keeps its token in HOME.
  const stdio = ['ignore', 'pipe', 'inherit'];
  const env = { ...process.env, MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'file' };
  const { status, stdout } = spawnSync(process.execPath, [program, ...target, '--method', ...words], {
    encoding: 'utf8',
    ...{ stdio, env },
  });
  if (status !== 0) process.exit(status ?? 1);
  return JSON.parse(stdout);
}

const { tools } = ask('tools/list').result;
const words = JSON.stringify({ name: 'add', arguments: { a: 40, b: 2 } });
const { content } = ask('tools/call', '--tool-name', 'call_tool', '--tool-args-json', words).result;
process.stdout.write(JSON.stringify({ tools: tools.map(({ name }) => name), answer: content[0].text }));
