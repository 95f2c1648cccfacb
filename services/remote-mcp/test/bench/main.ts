import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { listen } from '../../../kit/http/listen.ts';
import { startPlatform, until } from '../platform.ts';
import { openSession, rpc, send } from '../raw.ts';
import { tool } from '../runtime.ts';
import { TestWorkspace } from '../workspace.ts';

/**
 * Measures the cost of remote-mcp: calls through it to a runtime that answers at once, in turn with bare node:http and
 * the same body. A separate process makes the load. `node services/remote-mcp/test/bench/main.ts [rounds]`.
 */
const rounds = Number(process.argv[2] ?? 3);

const platform = await startPlatform({ env: { LOG_LEVEL: 'info' } });
const workspace = await TestWorkspace.create(platform, 'acme');
await workspace.mcpServer('files', [tool('echo')]);
await workspace.role('All', [await workspace.skill('all', ['files/echo'])]);
const key = (await workspace.key('agent')).text;
const session = await openSession(platform.mcpUrl, key);
const call = rpc('tools/call', { name: 'echo', arguments: { message: 'x'.repeat(64) } }, 1);
await until(async () => (await send(platform.mcpUrl, { key, session, body: call })).body.result?.content !== undefined);

const answer = (await send(platform.mcpUrl, { key, session, body: call })).text;
const bare = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    const body = Buffer.from(answer);
    response.writeHead(200, ['content-type', 'application/json', 'content-length', String(body.length)]);
    response.end(body);
  });
});
const bareUrl = `${await listen(bare, { host: '127.0.0.1', port: 0 })}/mcp`;

const sessions: string[] = [];
for (let i = 0; i < 32; i++) sessions.push(await openSession(platform.mcpUrl, key));
for (let round = 0; round < rounds; round++) {
  for (const [name, url, body] of [
    ['bare node:http', bareUrl, call],
    ['ping', platform.mcpUrl, rpc('ping', undefined, 1)],
    ['call', platform.mcpUrl, call],
  ] as const) {
    for (const connections of [1, 32]) {
      const figures = await inOwnProcess({ url, key, sessions: sessions.slice(0, connections), body });
      process.stdout.write(`${name.padEnd(16)} ${String(connections).padStart(3)} connections  ${figures}\n`);
    }
  }
}

const memory = () => {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { own: heapUsed + external, rss };
};
const idle = 10_000;
const before = memory();
await inOwnProcess({ url: platform.mcpUrl, key, idle });
const after = memory();
const each = { own: Math.round((after.own - before.own) / idle), rss: Math.round((after.rss - before.rss) / idle) };
process.stdout.write(
  `${idle} idle sessions: ${each.own} bytes of heap each, ${each.rss} of the process (node --expose-gc)\n`,
);

bare.close();
await platform.stop();

function inOwnProcess(work: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('./client.ts', import.meta.url)), [JSON.stringify(work)]);
    child.on('message', (figures) => resolve(String(figures)));
    child.on('error', reject);
    child.on('exit', (code) => code !== 0 && reject(new Error(`the load ended with ${code}`)));
  });
}
