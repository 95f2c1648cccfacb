import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { newKey } from '../contracts/keys.ts';
import { readEnv } from '../kit/env.ts';
import { listen, stopListening } from '../kit/http/listen.ts';
import { createLog } from '../kit/log.ts';
import { buildRemoteMcp } from './context.ts';
import { RemoteMcpServer } from './server.ts';
import { ping, send } from './test/raw.ts';

const env = { SYSTEM_KEY: newKey('system').reveal(), BUS_SERVERS: 'inproc:', REMOTE_PORT: '0' };

async function serve() {
  const { env: config } = readEnv('remote-mcp', env);
  const log = createLog({ service: 'test', level: 'error', destination: { write: () => undefined } });
  const http = new RemoteMcpServer(buildRemoteMcp({ config, hub: null, version: '1', log }));
  return { http, url: await listen(http.server, { host: '127.0.0.1', port: 0 }) };
}

test('a stopping remote-mcp still answers, asks clients to reconnect, and reports that it is not ready', async () => {
  const { http, url } = await serve();
  const unused = connect(Number(new URL(url).port), '127.0.0.1');
  await once(http.server, 'connection');
  const closed = once(unused, 'close');
  http.leaving.begin();
  const ready = await send(`${url}/ready`, { method: 'GET' });
  expect([ready.status, ready.body.missing, ready.headers.get('connection')]).toEqual([
    ...[503, ['remote-mcp: is stopping'], 'close'],
  ]);
  const late = await send(`${url}/mcp`, { body: ping });
  expect([late.status, late.headers.get('connection')]).toEqual([401, 'close']);
  expect(unused.destroyed).toBe(false);
  await http.leaving.quiet();
  await closed;
  await stopListening(http.server, 10_000);
  await expect(send(`${url}/mcp`, { body: ping })).rejects.toThrow();
});

test('a stopping remote-mcp waits until the front has noticed that it is not ready', async () => {
  const { http, url } = await serve();
  const other = await serve();
  await send(`${url}/ready`, { method: 'GET' });
  http.leaving.begin();
  let isQuiet = false;
  const quiet = http.leaving.quiet().then(() => {
    isQuiet = true;
  });
  other.http.leaving.begin();
  // The time after which a remote-mcp decides that no front follows it.
  await other.http.leaving.quiet();
  expect(isQuiet).toBe(false);
  expect((await send(`${url}/ready`, { method: 'GET' })).status).toBe(503);
  await quiet;
  await Promise.all([stopListening(http.server, 10_000), stopListening(other.http.server, 10_000)]);
});
