import { describe, expect, test, vi } from 'vitest';
import { cataloguePath } from '../../../services/contracts/catalogue.ts';
import { graphqlPath } from '../../../services/contracts/token.ts';
import { freePorts } from '../../test/free-ports.ts';
import { until } from '../../test/until.ts';
import { ask } from './ask.ts';
import { type Answer, hasCaddy, host, openFront, startCaddy, Upstream } from './running-caddy.ts';

vi.setConfig({ testTimeout: 60_000 });

const says = (name: string): Answer => {
  return (request, response) => void request.once('end', () => response.end(name)).resume();
};
const post = (url: string, path: string = graphqlPath) => fetch(`${url}${path}`, { method: 'POST', body: '{}' });
const textOf = async (asked: Promise<Response>) => (await asked).text();

describe.skipIf(!hasCaddy)('through Caddy', () => {
  test('backends share all requests, also those of services', async () => {
    await using front = await openFront(says, { service: 'backend' });
    const seen = new Set<string>();
    for (let turn = 0; turn < 40; turn++) seen.add(await textOf(post(front.url)));
    expect([...seen].sort()).toEqual(['one', 'other']);
    expect(await textOf(fetch(`${front.url}${cataloguePath}/w`))).toMatch(/^(one|other)$/);
  });

  test('a backend that is not ready gets no requests, and every request is answered', async () => {
    await using front = await openFront(says, { service: 'backend' });
    front.one.isReady = false;
    await until(async () => {
      const before = front.one.count;
      for (let turn = 0; turn < 20; turn++) expect((await post(front.url)).status).toBe(200);
      return front.one.count === before;
    });
  });

  test('both may be shared at once, and be under one host name besides, with internal paths closed', async () => {
    const [httpPort = 0, mcpPort = 0, backendPort = 0, ...ports] = await freePorts(8);
    const names = ['mcp', 'mcp-2', 'backend', 'backend-2', 'frontend'];
    const all = names.map((name, index) => new Upstream(ports[index] ?? 0, says(name)));
    await Promise.all(all.map((one) => one.open()));
    const replicas = 'graph: dgraph\nreplicas: { remote-mcp: 2, backend: 2 }';
    const processes = ['remote-mcp-1', 'remote-mcp-2', 'backend-1', 'backend-2', 'frontend'];
    const caddy = await startCaddy(`bind: 127.0.0.2\npublic: { host: ${host} }\n${replicas}`, {
      ...{ 'caddy-http': httpPort, 'remote-mcp': mcpPort, backend: backendPort },
      ...Object.fromEntries(processes.map((name, index) => [name, ports[index] ?? 0])),
    });
    const own = (port: number) => `http://127.0.0.1:${port}`;
    const byName = async (path: string) => (await ask({ host, to: '127.0.0.2', port: httpPort, path, ca: null })).body;
    expect(await textOf(post(own(mcpPort), '/mcp'))).toMatch(/^mcp/);
    expect(await textOf(post(own(backendPort)))).toMatch(/^backend/);
    expect(await textOf(post(own(backendPort), `${cataloguePath}/w`))).toMatch(/^backend/);
    expect(await byName('/mcp')).toMatch(/^mcp/);
    expect(await byName(graphqlPath)).toMatch(/^backend/);
    expect(await byName(`${cataloguePath}/w`)).toBe('frontend');
    await expect(fetch(`http://127.0.0.2:${backendPort}${cataloguePath}/w`)).rejects.toThrow();
    await caddy[Symbol.asyncDispose]();
    await Promise.all(all.map((one) => one.close()));
  });
});
