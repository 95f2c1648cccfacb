import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import type { Bus } from '../../../services/kit/bus/bus.ts';

/** The far end of the floor: a request of the bus goes to a child's stdin, and its line of stdout comes back. */
export function answerByChild(bus: Bus, subject: string, program: string): void {
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
export function askOverHttp(bus: Bus, subject: string, port: number): void {
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
  }).listen(port, '127.0.0.1');
}
