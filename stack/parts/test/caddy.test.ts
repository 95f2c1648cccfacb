import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { readPlan } from '../../engines/plan-of.ts';
import { openProcessTrial, supervise } from '../../engines/process/test/trial.ts';
import { findProgram } from '../../machine/find-program.ts';
import { until } from '../../test/until.ts';
import { echo, hasCaddy, openFront } from './running-caddy.ts';

vi.setConfig({ testTimeout: 60_000 });

const post = (url: string, session?: string, body = '{}') =>
  fetch(`${url}/mcp`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...(session === undefined ? {} : { 'mcp-session-id': session }) },
  });

describe.skipIf(!hasCaddy)('through Caddy', () => {
  test("an agent's headers arrive unchanged, except its address", async () => {
    await using front = await openFront(echo);
    const said = {
      origin: 'https://app.example.com',
      authorization: 'Bearer SVA_x',
      'mcp-session-id': 'abc',
      'mcp-protocol-version': '2025-11-25',
      accept: 'application/json, text/event-stream',
    };
    const headers = { ...said, 'x-forwarded-for': '192.0.2.66', 'x-forwarded-host': 'evil.example.com' };
    const response = await fetch(`${front.url}/mcp?skillIds=s`, { method: 'POST', headers, body: '{}' });
    const host = `127.0.0.1:${front.port}`;
    expect(await response.json()).toMatchObject({
      headers: { ...said, host, 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': host },
    });
    expect([response.headers.get('server'), response.headers.get('via')]).toEqual([null, null]);
  });

  test("events pass at once, and the end of a client's stream or call is passed on", async () => {
    const left = { stream: false, call: false };
    await using front = await openFront(() => (request, response) => {
      const what = request.method === 'GET' ? 'stream' : 'call';
      response.once('close', () => {
        left[what] = true;
      });
      if (what === 'stream') response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
      else request.resume();
    });
    const leaving = new AbortController();
    const stream = await fetch(`${front.url}/mcp`, { signal: leaving.signal });
    const { value } = (await stream.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe('data: first\n\n');
    const call = fetch(`${front.url}/mcp`, { method: 'POST', body: '{}', signal: leaving.signal }).catch(() => 'left');
    await until(() => front.one.count + front.other.count === 2);
    expect(left).toEqual({ stream: false, call: false });
    leaving.abort();
    expect(await call).toBe('left');
    await until(() => left.stream && left.call);
  });

  test('a session stays at its remote-mcp until that one is not ready, and then continues at the other', async () => {
    await using front = await openFront(echo);
    const answerers = async () => {
      const names = new Set<string>();
      for (let turn = 0; turn < 20; turn++) names.add((await (await post(front.url, 'session')).json()).name);
      return [...names];
    };
    const [mine = '', ...more] = await answerers();
    expect(more).toEqual([]);
    const own = mine === 'one' ? front.one : front.other;
    own.isReady = false;
    await until(async () => (await (await post(front.url, 'session')).json()).name !== mine);
    expect(await answerers()).not.toContain(mine);
    await own.close();
    expect(await answerers()).not.toContain(mine);
    own.isReady = true;
    await own.open();
    await until(async () => (await (await post(front.url, 'session')).json()).name === mine);
  });

  test('sessions are distributed', async () => {
    await using front = await openFront(echo);
    for (let turn = 0; turn < 40; turn++) await post(front.url, `session ${turn}`);
    expect(Math.min(front.one.count, front.other.count)).toBeGreaterThan(0);
  });

  test('a message whose remote-mcp ends meanwhile is reported as such, and sent to no other', async () => {
    await using front = await openFront(() => (request, response) => {
      request.once('end', () => response.destroy()).resume();
    });
    const response = await post(front.url, 'session');
    expect([response.status, response.headers.get('content-type')]).toEqual([502, 'application/json']);
    expect((await response.json()).error).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('it may have been carried out or not'),
    });
    expect(front.one.count + front.other.count).toBe(1);
  });

  test('just after an end, a message is answered by the other or reported as not carried out', async () => {
    await using front = await openFront(echo);
    await front.one.close();
    for (let turn = 0; turn < 20; turn++) {
      const response = await post(front.url, `session ${turn}`);
      if (response.status === 200) continue;
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await response.json()).error.message).toMatch(/The request was not carried out\.$/);
    }
    await until(async () => (await post(front.url, 'session')).ok);
    const before = front.other.count;
    for (let turn = 0; turn < 20; turn++) expect((await post(front.url, `session ${turn}`)).status).toBe(200);
    expect(front.other.count).toBe(before + 20);
  });

  test('just after an end, a new stream goes to the other at once', async () => {
    await using front = await openFront(echo);
    await front.one.close();
    for (let turn = 0; turn < 10; turn++) expect((await fetch(`${front.url}/mcp?${turn}`)).status).toBe(200);
  });

  test('clients that leave in the middle of a message put no remote-mcp out of use', async () => {
    await using front = await openFront(echo);
    for (let turn = 0; turn < 10; turn++) {
      await new Promise<void>((resolve) => {
        const socket = connect(front.port, '127.0.0.1', () => {
          socket.end('POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
        });
        socket.once('close', () => resolve()).resume();
      });
      expect((await post(front.url, `session ${turn}`)).status).toBe(200);
    }
  });

  test('without a ready replica, it answers with the usual form of errors', async () => {
    await using front = await openFront(echo);
    for (const one of [front.one, front.other]) one.isReady = false;
    await until(async () => (await post(front.url)).status === 503);
    const response = await post(front.url);
    expect([response.headers.get('content-type'), response.headers.get('retry-after')]).toEqual([
      'application/json',
      '1',
    ]);
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

  test.skipIf(process.platform !== 'linux')('it listens on the given address, and on no other', async () => {
    await using front = await openFront(echo);
    const reached = await new Promise((resolve) => {
      const socket = connect(front.port, '127.0.0.2');
      socket.once('connect', () => resolve('connected')).once('error', ({ message }) => resolve(message));
    });
    expect(reached).toMatch(/ECONNREFUSED/);
  });

  test('a platform refuses an address that another Caddy has, which Caddy itself would share with it', async () => {
    await using trial = await openProcessTrial([['  remote-mcp: 1\n', '  remote-mcp: 2\n']]);
    const port = readPlan(trial.installation).ports['remote-mcp'];
    await using _ = await openFront(echo, { on: port });
    const caddy = findProgram('caddy', process.env.PATH);
    const { programs } = trial;
    const foreign = { ...programs.foreign, caddy };
    await using supervisor = supervise({ ...trial, programs: { ...programs, foreign } });
    await expect(supervisor.run).rejects.toMatchObject({
      message: expect.stringContaining(`Port ${port} of caddy is in use by "`),
    });
  });
});
