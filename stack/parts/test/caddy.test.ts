import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { cataloguePath } from '../../../services/contracts/catalogue.ts';
import { graphqlPath } from '../../../services/contracts/token.ts';
import { readPlan } from '../../engines/plan-of.ts';
import { openProcessTrial, supervise } from '../../engines/process/test/trial.ts';
import { findProgram } from '../../machine/find-program.ts';
import { until } from '../../test/until.ts';
import { ask } from './ask.ts';
import { hasCaddy, host, openFront } from './running-caddy.ts';

vi.setConfig({ testTimeout: 60_000 });

const twoMcps = 'replicas: { remote-mcp: 2 }\n';

const post = (url: string, session = '') =>
  fetch(`${url}/mcp`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', 'mcp-session-id': session },
  });
const nameIn = async (answer: Promise<Response>): Promise<string> => (await (await answer).json()).name;

describe.skipIf(!hasCaddy)('through Caddy', () => {
  test('sessions are distributed, and each stays at its remote-mcp while that one is ready', async () => {
    await using front = await openFront(twoMcps);
    for (let turn = 0; turn < 40; turn++) await post(front.url, `session ${turn}`);
    for (const { count } of front.all) expect(count).toBeGreaterThan(0);
    const answerers = async () => {
      const names = new Set<string>();
      for (let turn = 0; turn < 20; turn++) names.add(await nameIn(post(front.url, 'session')));
      return [...names];
    };
    const [mine = '', ...more] = await answerers();
    expect(more).toEqual([]);
    const own = front.get(mine);
    own.isReady = false;
    await until(async () => (await nameIn(post(front.url, 'session'))) !== mine);
    expect(await answerers()).not.toContain(mine);
    await own.close();
    expect(await answerers()).not.toContain(mine);
    own.isReady = true;
    await own.open();
    await until(async () => (await nameIn(post(front.url, 'session'))) === mine);
  });

  test('a message whose remote-mcp ends meanwhile is reported as such, and sent to no other', async () => {
    await using front = await openFront(twoMcps);
    for (const one of front.all) {
      one.answer = (request, response) => void request.once('end', () => response.destroy()).resume();
    }
    const response = await post(front.url, 'session');
    expect([response.status, response.headers.get('content-type')]).toEqual([502, 'application/json']);
    expect((await response.json()).error).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('it may have been carried out or not'),
    });
    expect(front.all.map(({ count }) => count).sort()).toEqual([0, 1]);
  });

  test('just after an end, a stream goes to the other, and a message does or is reported as not carried out', async () => {
    await using front = await openFront(twoMcps);
    await front.get('remote-mcp').close();
    const turns = Array.from({ length: 20 }, (_, turn) => turn);
    const streams = turns.map((turn) => fetch(`${front.url}/mcp?${turn}`));
    const messages = turns.map((turn) => post(front.url, `session ${turn}`));
    for (const { status } of await Promise.all(streams)) expect(status).toBe(200);
    for (const response of await Promise.all(messages)) {
      if (response.status === 200) continue;
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await response.json()).error.message).toMatch(/The request was not carried out\.$/);
    }
    await until(async () => (await post(front.url, 'session')).ok);
    const other = front.get('remote-mcp-2');
    const before = other.count;
    for (const turn of turns) expect((await post(front.url, `session ${turn}`)).status).toBe(200);
    expect(other.count).toBe(before + 20);
  });

  test('clients that leave in the middle of a message put no remote-mcp out of use', async () => {
    await using front = await openFront(twoMcps);
    for (let turn = 0; turn < 10; turn++) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(new URL(front.url).port), '127.0.0.1', () => {
          socket.end('POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
        });
        socket.once('close', () => resolve()).resume();
      });
      expect((await post(front.url, `session ${turn}`)).status).toBe(200);
    }
  });

  test('without a ready replica, it answers with the usual form of errors', async () => {
    await using front = await openFront(twoMcps);
    for (const one of front.all) one.isReady = false;
    await until(async () => (await post(front.url)).status === 503);
    const response = await post(front.url);
    const { headers } = response;
    const headerValues = ['content-type', 'retry-after', 'server', 'via'].map((name) => headers.get(name));
    expect(headerValues).toEqual(['application/json', '1', null, null]);
    expect(await response.json()).toEqual({
      error: {
        code: 'unavailable',
        message: 'No remote-mcp is ready. The request was not carried out.',
        hint: 'svc status says why; send it again once one is.',
      },
    });
    const ready = await fetch(`${front.url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'not ready', missing: ['remote-mcp: none of 2 is ready'] },
    ]);
  });

  test('both services are shared at once, and under one host name besides, with internal paths closed', async () => {
    await using front = await openFront(
      `bind: 127.0.0.2\npublic: { host: ${host}, httpPort: auto }\ngraph: dgraph\nreplicas: { remote-mcp: 2, backend: 2 }`,
    );
    const { 'caddy-http': port = 0, 'remote-mcp': mcpPort, backend: backendPort } = front.ports;
    const own = (of: number | undefined, path: string) => fetch(`http://127.0.0.1:${of}${path}`);
    const byName = async (path: string) =>
      JSON.parse((await ask({ host, hostname: '127.0.0.2', port, path, ca: null })).body).name;
    const seen = new Set<string>();
    for (let turn = 0; turn < 40; turn++) seen.add(await nameIn(own(backendPort, graphqlPath)));
    expect([...seen].sort()).toEqual(['backend', 'backend-2']);
    expect(await nameIn(own(backendPort, `${cataloguePath}/w`))).toMatch(/^backend/);
    expect(await nameIn(own(mcpPort, '/mcp'))).toMatch(/^remote-mcp/);
    expect(await byName('/mcp')).toMatch(/^remote-mcp/);
    expect(await byName(graphqlPath)).toMatch(/^backend/);
    expect(await byName(`${cataloguePath}/w`)).toBe('frontend');
    // Caddy listens for the services on 127.0.0.1 only, and for the public host name on 127.0.0.2 only.
    await expect(fetch(`http://127.0.0.2:${backendPort}${cataloguePath}/w`)).rejects.toThrow();
    await expect(own(port, '/')).rejects.toThrow();
    const one = front.get('backend');
    one.isReady = false;
    await until(async () => {
      const before = one.count;
      for (let turn = 0; turn < 20; turn++) expect((await own(backendPort, graphqlPath)).status).toBe(200);
      return one.count === before;
    });
  });

  test('a platform refuses an address that another Caddy has, which Caddy itself would share with it', async () => {
    await using trial = await openProcessTrial([['  remote-mcp: 1\n', '  remote-mcp: 2\n']]);
    const port = readPlan(trial.installation).ports['remote-mcp'];
    await using _ = await openFront(`ports: { remote-mcp: ${port} }\n${twoMcps}`);
    const { programs } = trial;
    const find = (command: string) =>
      command === 'caddy' ? findProgram(command, process.env.PATH) : programs.find(command);
    await using supervisor = supervise({ ...trial, programs: { ...programs, find } });
    await expect(supervisor.run).rejects.toMatchObject({
      message: expect.stringContaining(`Port ${port} of caddy is in use by "`),
    });
  });
});
