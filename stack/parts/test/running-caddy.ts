import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planFor } from '../../engines/plan-of.ts';
import { waitUntilReady } from '../../lifecycle/readiness.ts';
import { findProgram } from '../../machine/find-program.ts';
import { makeCertificate } from '../../runtime-elsewhere/test/certificate.ts';
import type { SharedService } from '../../settings/definition.ts';
import { usualPorts } from '../../settings/ports.ts';
import { definitionOf } from '../../settings/test/definition-of.ts';
import { installationIn } from '../../state/installation.ts';
import { freePorts } from '../../test/free-ports.ts';
import { runWithTest } from '../../test/run-with-test.ts';
import { until } from '../../test/until.ts';
import { caddyfile } from '../caddy.ts';

/** Whether `caddy` is installed, which these tests need. */
export const hasCaddy = findProgram('caddy', process.env.PATH) !== null;

/**
 * Caddy, configured as in a platform with these settings and ports, in its own folder that `prepare` may add files to.
 * Ready once its port answers.
 */
export async function startCaddy(
  yaml: string,
  ports: Readonly<Record<string, number>>,
  prepare: (folder: string) => void = () => undefined,
) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-front-'));
  prepare(folder);
  const definition = definitionOf(`topology: distributed\n${yaml}`);
  const { parts } = planFor(installationIn(folder), definition, { ...usualPorts, ...ports });
  const { variables, ready } = parts.find(({ service }) => service === 'caddy') ?? never();
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, caddyfile(variables));
  const caddy = runWithTest(['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], folder, { HOME: folder });
  await waitUntilReady(ready, { timeoutMs: 20_000, signal: new AbortController().signal });
  return {
    folder,
    async [Symbol.asyncDispose]() {
      await caddy[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The proxy in front of two processes of a service, remote-mcp by default. */
export async function openFront(
  answer: (name: 'one' | 'other') => Answer,
  { on, service = 'remote-mcp' }: { readonly on?: number; readonly service?: SharedService } = {},
) {
  const [free = 0, first = 0, second = 0] = await freePorts(3);
  const port = on ?? free;
  const one = new Upstream(first, answer('one'));
  const other = new Upstream(second, answer('other'));
  await Promise.all([one.open(), other.open()]);
  const ports = { [service]: port, [`${service}-1`]: first, [`${service}-2`]: second };
  const caddy = await startCaddy(`graph: dgraph\nreplicas: { ${service}: 2 }`, ports);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    one,
    other,
    async [Symbol.asyncDispose]() {
      await caddy[Symbol.asyncDispose]();
      await Promise.all([one.close(), other.close()]);
    },
  };
}

const services = ['remote-mcp', 'backend', 'frontend'] as const;
type Service = (typeof services)[number];

export const host = 'agents.example.com';

/** The proxy of everything under one host name, in front of stand-ins with given answers. */
export async function openOneHost(tls: 'none' | 'files', answer: (service: Service) => Answer) {
  const [httpPort = 0, httpsPort = 0, ...ports] = await freePorts(5);
  const behind = new Map(services.map((service, index) => [service, new Upstream(ports[index] ?? 0, answer(service))]));
  await Promise.all([...behind.values()].map((upstream) => upstream.open()));
  const get = (service: Service) => behind.get(service) ?? never();
  const files = tls === 'files' ? 'cert: own.pem, key: own.key, ' : '';
  const port = tls === 'none' ? httpPort : httpsPort;
  const caddy = await startCaddy(
    `public: { host: ${host}, tls: ${tls}, ${files}}`,
    {
      'caddy-http': httpPort,
      'caddy-https': httpsPort,
      ...Object.fromEntries(services.map((service) => [service, get(service).port])),
    },
    (folder) => makeCertificate(folder, 'own', `DNS:${host}`),
  );
  /** The self-signed certificate. */
  const ca = readFileSync(join(caddy.folder, 'own.pem'), 'utf8');
  return {
    origin: `http${tls === 'none' ? '' : 's'}://${host}:${port}`,
    httpPort,
    httpsPort,
    ca,
    /** Where requests under the host name go. */
    where: { host, port, ca: tls === 'none' ? null : ca },
    get,
    async [Symbol.asyncDispose]() {
      await caddy[Symbol.asyncDispose]();
      await Promise.all([...behind.values()].map((upstream) => upstream.close()));
    },
  };
}

function never(): never {
  throw new Error('the test has no such service');
}

/** Answers with its name, the request and its length. */
export function echo(name: string): Answer {
  return (request, response) => {
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    request.on('end', () => {
      const { method, url, headers } = request;
      response.end(JSON.stringify({ name, method, url, length, headers }));
    });
    request.on('error', () => undefined);
  };
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server behind the proxy: ready or not, with given answers. */
export class Upstream {
  readonly server: Server;
  readonly port: number;
  isReady = true;
  /** All requests but those for `/ready`. */
  count = 0;

  constructor(port: number, answer: Answer) {
    this.port = port;
    this.server = createServer((request, response) => {
      if (/^\/ready(\?|$)/.test(request.url ?? '')) return response.writeHead(this.isReady ? 200 : 503).end('{}');
      this.count++;
      answer(request, response);
      return undefined;
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
    // A request on a connection whose end was not noticed yet gets no answer.
    await until(() => !isHeldOpen(this.port));
  }
}

/** Whether a client of the port has not noticed yet that the other side is gone (proc(5): the state CLOSE_WAIT). */
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
