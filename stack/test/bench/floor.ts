import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { newId, newProcessId } from '../../../services/contracts/ids.ts';
import { Secret } from '../../../services/contracts/secret.ts';
import { startHub } from '../../../services/kit/bus/start.ts';

/** The floor: an HTTP request's body goes over the bus to a child's stdin, and its line of stdout comes back. No keys, no roles, no names. */
const [port, program] = process.argv.slice(2);
const hub = await startHub({ file: null });
const backend = await hub.connect({ kind: 'backend' }, newProcessId());
const runtimeId = newId('runtime');
backend.authorize(async (credentials, process) =>
  credentials.kind === 'system'
    ? { kind: 'remote-mcp', process }
    : { kind: 'runtime', process, runtime: runtimeId, name: 'floor', workspace: null },
);
const front = await hub.connect({ kind: 'system', component: 'remote-mcp', key: new Secret('') }, newProcessId());
const runtime = await hub.connect({ kind: 'runtime', key: new Secret('') }, newProcessId());
const subject = `svc.runtime.${runtimeId}.${runtime.identity.process}.call`;

const child = spawn(process.execPath, [program ?? '', 'stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
const waiting = new Map<number, (line: string) => void>();
let nextId = 1;
createInterface({ input: child.stdout }).on('line', (line) => {
  const message: { id?: number } = JSON.parse(line);
  if (message.id !== undefined) waiting.get(message.id)?.(line);
});

runtime.respond(subject, async ({ payload }) => {
  const message: Record<string, unknown> = JSON.parse(Buffer.from(payload).toString());
  const id = nextId++;
  child.stdin.write(`${JSON.stringify({ ...message, id })}\n`);
  const line = await new Promise<string>((resolve) => waiting.set(id, resolve));
  waiting.delete(id);
  return { payload: Buffer.from(JSON.stringify({ ...JSON.parse(line), id: message.id })), headers: {} };
});

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const body = Buffer.concat(chunks);
    if (!body.includes('"id"')) {
      child.stdin.write(`${body.toString()}\n`);
      response.writeHead(202).end();
      return;
    }
    const reply = await front.request(subject, body, { timeoutMs: 30_000 });
    response.writeHead(200, {
      'content-type': 'application/json',
      'mcp-session-id': 'floor',
      'content-length': reply.payload.length,
    });
    response.end(reply.payload);
  });
}).listen(Number(port), '127.0.0.1');
