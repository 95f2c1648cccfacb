import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { newProcessId, parseId } from '../../../services/contracts/ids.ts';
import { Secret } from '../../../services/contracts/secret.ts';
import type { Authorizer, Bus, Credentials } from '../../../services/kit/bus/bus.ts';
import { connectNats } from '../../../services/kit/bus/nats/connect.ts';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import { startHub } from '../../../services/kit/bus/start.ts';
import { createLog } from '../../../services/kit/log.ts';

/**
 * The floor: an HTTP request's body goes over the bus to a child's stdin, and its line of stdout comes back. No keys, no roles, no names. Over
 * NATS the child has a process of its own, and a real server is between them.
 */
const [kind, port = '', program = '', url] = process.argv.slice(2);
const runtimeId = parseId('runtime', `run_${'0'.repeat(24)}`);
const subjectOf = (id: string) => `svc.runtime.${runtimeId}.${id}.call`;
const authorize: Authorizer = async (credentials, id) =>
  credentials.kind === 'system'
    ? { kind: 'remote-mcp', process: id }
    : { kind: 'runtime', process: id, runtime: runtimeId, name: 'floor', workspace: null };
const [front, runtime] = [
  { kind: 'system', component: 'remote-mcp', key: new Secret('key') },
  { kind: 'runtime', key: new Secret('key') },
] as const;

if (kind === 'inproc') await bothInProcess();
else if (url === undefined) await beNear();
else await beFar(url);

async function bothInProcess(): Promise<void> {
  const hub = await startHub({ file: null });
  (await hub.connect({ kind: 'backend' }, newProcessId())).authorize(authorize);
  const near = await hub.connect(front, newProcessId());
  const far = await hub.connect(runtime, newProcessId());
  answerByChild(far, subjectOf(far.identity.process));
  askOverHttp(near, subjectOf(far.identity.process));
}

async function connect(server: string, credentials: Credentials) {
  const logger = createLog({ service: 'floor', level: 'error', destination: process.stderr })('bus');
  return await connectNats({ servers: [server], caPath: null, persistent: true, credentials, logger });
}

async function beNear(): Promise<void> {
  const server = await TestServer.start(mkdtempSync(join(tmpdir(), 'floor-')));
  (await connect(server.url, { kind: 'backend', seeds: server.seeds })).authorize(authorize);
  const far = fork(import.meta.filename, ['nats', port, program, server.url]);
  const [farProcess] = await once(far, 'message');
  askOverHttp(await connect(server.url, front), subjectOf(String(farProcess)));
  process.once('SIGTERM', async () => {
    far.kill('SIGKILL');
    await server.stop();
    process.exit(0);
  });
}

async function beFar(server: string): Promise<void> {
  const bus = await connect(server, runtime);
  const id = bus.identity.process;
  answerByChild(bus, subjectOf(id));
  await bus.flush();
  process.send?.(id);
}

/** The far end of the floor: a request of the bus goes to a child's stdin, and its line of stdout comes back. */
function answerByChild(bus: Bus, subject: string): void {
  const child = spawn(process.execPath, [program, 'stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, (line: string) => void>();
  let nextId = 1;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message: { id?: number } = JSON.parse(line);
    if (message.id !== undefined) waiting.get(message.id)?.(line);
  });
  bus.respond(subject, async ({ payload }) => {
    const message: Record<string, unknown> = JSON.parse(Buffer.from(payload).toString());
    const id = nextId++;
    child.stdin.write(`${JSON.stringify({ ...message, id })}\n`);
    // What is no request has no answer.
    if (message.id === undefined) return { payload: Buffer.from(''), headers: {} };
    const line = await new Promise<string>((resolve) => waiting.set(id, resolve));
    waiting.delete(id);
    return { payload: Buffer.from(JSON.stringify({ ...JSON.parse(line), id: message.id })), headers: {} };
  });
}

/** The near end: an HTTP request's body goes over the bus. No keys, no roles, no names. */
function askOverHttp(bus: Bus, subject: string): void {
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const reply = await bus.request(subject, Buffer.concat(chunks), { timeoutMs: 30_000 });
      if (reply.payload.length === 0) {
        response.writeHead(202).end();
        return;
      }
      response.writeHead(200, {
        'content-type': 'application/json',
        'mcp-session-id': 'floor',
        'content-length': reply.payload.length,
      });
      response.end(reply.payload);
    });
  }).listen(Number(port), '127.0.0.1');
}
