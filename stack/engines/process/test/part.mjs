// A stand-in for a part, in tests of the code that runs parts. It listens at the address of a service, nats-server or
// Caddy, and the file behaviour.json beside it sets its behaviour.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { basename, dirname, join } from 'node:path';

const folder = dirname(process.argv[1]);
const name = basename(process.argv[1], '.mjs');
const behaviourFile = join(folder, 'behaviour.json');
const behaviour = () =>
  existsSync(behaviourFile) ? (JSON.parse(readFileSync(behaviourFile, 'utf8'))[name] ?? {}) : {};
const { crash, deaf, child } = behaviour();

if (crash !== undefined) {
  console.error(crash);
  process.exit(3);
}
// When the test process has ended, for any reason, the part kills itself and the processes that it started.
const tester = Number(readFileSync(join(folder, 'tester.pid'), 'utf8'));
setInterval(() => {
  try {
    process.kill(tester, 0);
  } catch {
    process.kill(-process.pid, 'SIGKILL');
  }
}, 500).unref();
if (deaf) process.on('SIGTERM', () => undefined);
if (child) {
  // The child belongs to the same process group and ignores SIGTERM.
  const program = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`;
  const grandchild = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
  writeFileSync(join(folder, `${name}.child`), String(grandchild.pid));
}

const server = createServer((request, response) => {
  if (request.url === '/ready' || request.url === '/healthz') {
    response.statusCode = behaviour().notReady ? 503 : 200;
    return response.end('{"missing":["patience"]}');
  }
  if (request.url === '/flood') {
    const line = `${'x'.repeat(1023)}\n`.repeat(1024);
    for (let megabytes = 0; megabytes < 60; megabytes++) process.stdout.write(line);
    return response.end('done');
  }
  // The backend's answer to the registration of identities.
  response.end(JSON.stringify({ data: { remoteMcp: true, runtime: true, workspaces: { nodes: [{ id: 'w' }] } } }));
});
const listen = (port, host) => server.listen(Number(port), host);

const at = process.argv.findIndex((argument) => argument === '-c' || argument === '--config');
if (at === -1) listen(process.env.PORT ?? process.env.REMOTE_PORT, process.env.BIND_HOST);
else {
  const configuration = readFileSync(process.argv[at + 1], 'utf8');
  const [, natsHost, natsPort] = /^listen: "(.+):(\d+)"/m.exec(configuration) ?? [];
  if (natsPort === undefined) listen(/^\s*http:\/\/:(\d+)/m.exec(configuration)?.[1], '127.0.0.1');
  else failing(createTcpServer(speakNats)).listen(Number(natsPort), natsHost);
}
failing(server);

function failing(one) {
  return one.on('error', (error) => {
    console.error(`Cannot listen: ${error.code}`);
    process.exit(1);
  });
}

/** Speaks as much of the NATS protocol as the readiness check needs. */
function speakNats(socket) {
  const info = { server_id: 'test', version: '2.11.0', nonce: 'test', jetstream: true };
  socket.on('error', () => undefined);
  socket.write(`INFO ${JSON.stringify(info)}\r\n`);
  socket.on('data', (chunk) => {
    const message = chunk.toString();
    if (message.includes('PING\r\n')) socket.write('PONG\r\n');
    if (!message.includes('HEALTHZ')) return;
    const data = behaviour().notReady ? { status: 'unavailable', error: 'patience' } : { status: 'ok' };
    const body = JSON.stringify({ data });
    socket.write(`MSG health 1 ${body.length}\r\n${body}\r\n`);
  });
}
