import { join } from 'node:path';
import { newProcessId } from '../../../contracts/ids.ts';
import { Secret } from '../../../contracts/secret.ts';
import { startHub } from '../start.ts';

/**
 * A program for the contract suite: starts a bus on the given folder and writes without end. Prints each acknowledged
 * write: `record <text>`, `key <key> <text>`.
 */
const [folder = ''] = process.argv.slice(2);
const hub = await startHub({ file: join(folder, 'bus.sqlite') });
const backend = await hub.connect({ kind: 'backend' }, newProcessId());
backend.authorize(async (_, node) => ({ kind: 'remote-mcp', process: node }));
const bus = await hub.connect({ kind: 'system', key: new Secret(''), component: 'remote-mcp' }, newProcessId());
const stream = bus.stream('usage');
const bucket = bus.bucket('sessions', { maxAgeMs: 3_600_000 });

async function appendForEver(writer: number): Promise<void> {
  for (let i = 0; ; i++) {
    await stream.append(Buffer.from(`${writer}-${i}`));
    process.stdout.write(`record ${writer}-${i}\n`);
  }
}

async function putForEver(key: string): Promise<void> {
  for (let i = 0; ; i++) {
    await bucket.put(key, Buffer.from(String(i)));
    process.stdout.write(`key ${key} ${i}\n`);
  }
}

const numbers = Array.from({ length: 20 }, (_, i) => i);
await Promise.all([...numbers.map(appendForEver), ...numbers.map((i) => putForEver(`key-${i}`))]);
