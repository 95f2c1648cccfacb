import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { planFor, portWishesOf } from '../../engines/plan-of.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { findProgram } from '../../machine/find-program.ts';
import { makeCertificate } from '../../runtime-elsewhere/test/certificate.ts';
import { usualPorts } from '../../settings/ports.ts';
import { definitionOf } from '../../settings/test/definition-of.ts';
import { installationIn } from '../../state/installation.ts';
import { freePorts } from '../../test/free-ports.ts';
import { runWithTest } from '../../test/run-with-test.ts';
import { until } from '../../test/until.ts';
import { caddyfile } from '../caddy.ts';
import { partOf } from './planned.ts';

/** Whether `caddy` is installed, which these tests need. */
export const hasCaddy = findProgram('caddy', process.env.PATH) !== null;

/** Stands for the proof of an installation. */
export const frontProof = 'proof-of-the-front';

export const host = 'agents.example.com';
export const keysHost = 'keys.example.com';

/**
 * Starts Caddy as in a platform with these settings, with a free port for each `auto`. A stand-in replaces each part
 * behind Caddy, and own.pem is the certificate for `host` and `keysHost`.
 */
export async function openFront(yaml: string) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'svc-front-')), (dir) => rmSync(dir, { recursive: true }));
  makeCertificate(folder, 'own', `DNS:${host},DNS:${keysHost}`);
  const definition = definitionOf(`topology: distributed\n${yaml}`);
  const wishes = portWishesOf(definition);
  const free = await freePorts(wishes.length);
  const ports: Readonly<Record<string, number>> = Object.fromEntries(
    wishes.map(({ name, wanted }, index) => [name, wanted === 'auto' ? (free[index] ?? 0) : wanted]),
  );
  const plan = planFor(installationIn(folder), definition, { ...usualPorts, ...ports });
  const { variables, url, ready, after } = partOf(plan, 'caddy');
  const upstreams = new Map<string, Upstream>();
  for (const part of plan.parts.filter(({ name }) => after.includes(name))) {
    const upstream = stack.use(new Upstream(Number(new URL(part.url).port), echo(part.name)));
    await upstream.open();
    upstreams.set(part.name, upstream);
  }
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, caddyfile(variables, frontProof));
  stack.use(runWithTest(['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], folder, { HOME: folder }));
  await waitUntilReady(ready, { timeoutMs: 20_000, signal: new AbortController().signal });
  const running = stack.move();
  return {
    url,
    ports,
    origin: plan.addresses.public.backend,
    ca: readFileSync(join(folder, 'own.pem'), 'utf8'),
    all: [...upstreams.values()],
    get: (part: string): Upstream => upstreams.get(part) ?? expect.fail(`Caddy sends nothing to ${part}`),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers with its own name, the request, and the length of the request's body. */
function echo(name: string): Answer {
  return async (request, response) => {
    // A client may disconnect in the middle of its request.
    const { length } = await text(request).catch(() => '');
    const { method, url, headers } = request;
    response.end(JSON.stringify({ name, method, url, length, headers }));
  };
}

/** A server behind the proxy. A test sets its readiness and its answers. */
class Upstream {
  readonly port: number;
  answer: Answer;
  isReady = true;
  /** The number of whole requests, without those for `/ready`. Of a message that Caddy reports as not sent, the head may arrive. */
  count = 0;
  readonly server = createServer((request, response) => {
    if (/^\/ready(\?|$)/.test(request.url ?? '')) {
      response.writeHead(this.isReady ? 200 : 503).end('{}');
    } else {
      if (request.method === 'POST') request.once('end', () => this.count++);
      else this.count++;
      this.answer(request, response);
    }
  });

  constructor(port: number, answer: Answer) {
    this.port = port;
    this.answer = answer;
  }

  async open(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
    // A client that has not noticed the end of a connection may still use it, and its request gets no answer.
    await until(() => !isHeldOpen(this.port));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Whether a client still holds a connection that the server at this port has closed (proc(5): the state CLOSE_WAIT). */
function isHeldOpen(port: number): boolean {
  if (process.platform !== 'linux') return false;
  const there = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .some((line) => {
      const [, , remote, state] = line.trim().split(/\s+/);
      return state === '08' && remote?.endsWith(there);
    });
}
