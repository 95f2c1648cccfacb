// The conformance suite of MCP, as a client of the authorization server. It prints its report.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const { CLIENTS: folder = '', PLATFORM: resource = '', CALLBACK: callback = '', ISSUER: issuer = '' } = process.env;
const registered = await fetch(`${issuer}/connect/register`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [callback], token_endpoint_auth_method: 'none' }),
});
const { client_id: client } = await registered.json();
const program = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const asked = ['--url', issuer, '--client-id', client, '--resource', resource, '--port', new URL(callback).port];
const { status } = spawnSync(process.execPath, [program, 'authorization', ...asked], { stdio: ['ignore', 2, 2] });
process.exit(status ?? 1);
