import { describe } from 'vitest';
import { newProcessId } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import { busContract } from '../bus.contract.ts';
import type { Acknowledged } from '../contract/test-platform.ts';
import { hubOn, reached, startHub } from './test/hub.ts';
import { findNatsServer, TestServer } from './test/server.ts';

/** Enough records and keys that many writes happen before the kill. */
const recordsBeforeKill = 500;
const putsBeforeKill = 500;

// Each test has a server of its own, and most of its time waits for it.
describe.skipIf(findNatsServer() === null).concurrent('on a real server', () => {
  busContract({ name: 'NATS', start: startHub, reached, crash: writeUntilKilled });
});

/** Kills the server during writes. */
async function writeUntilKilled(folder: string): Promise<Acknowledged> {
  const server = await TestServer.start(folder);
  const hub = hubOn(server);
  const backend = await hub.connect({ kind: 'backend' }, newProcessId());
  backend.authorize(async (_, process) => ({ kind: 'remote-mcp', process }));
  const bus = await hub.connect({ kind: 'system', key: new Secret('x'), component: 'remote-mcp' }, newProcessId());
  const [stream, bucket] = [bus.stream('usage'), bus.bucket('sessions', { maxAgeMs: 3_600_000 })];
  const records: string[] = [];
  const keys = new Map<string, string>();
  const killed = Promise.withResolvers<void>();
  let puts = 0;
  const noted = () => {
    if (records.length >= recordsBeforeKill && puts >= putsBeforeKill) killed.resolve(server.stop('SIGKILL'));
  };
  const writers = Array.from({ length: 20 }, async (_, writer) => {
    for (let i = 0; ; i++) {
      await stream.append(Buffer.from(`${writer}-${i}`));
      records.push(`${writer}-${i}`);
      await bucket.put(`key-${writer}`, Buffer.from(String(i)));
      keys.set(`key-${writer}`, String(i));
      puts++;
      noted();
    }
  });
  await Promise.all([killed.promise, Promise.allSettled(writers)]);
  await hub.stop();
  return { records, keys };
}
