import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { busContract } from '../bus.contract.ts';
import type { Acknowledged, TestHub } from '../contract/test-platform.ts';
import { startHub } from '../start.ts';
import { rawClientOf } from './test/raw-client.ts';

/** Enough records and keys that many commits happen before the kill. */
const recordsBeforeKill = 500;
const putsBeforeKill = 500;

busContract({
  name: 'in-process',
  start: startTestHub,
  reached: async () => undefined,
  crash: writeUntilKilled,
});

async function startTestHub(folder: string): Promise<TestHub> {
  const hub = await startHub({ file: join(folder, 'bus.sqlite') });
  return {
    connect: (credentials, process) => hub.connect(credentials, process),
    connectRaw: async (credentials, process) => rawClientOf(await hub.connect(credentials, process)),
    stop: () => hub.stop(),
  };
}

async function writeUntilKilled(folder: string): Promise<Acknowledged> {
  const program = join(import.meta.dirname, 'write-until-killed.ts');
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const records: string[] = [];
  const keys = new Map<string, string>();
  let puts = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [kind, name, value] = line.split(' ');
    if (kind === 'record' && name !== undefined) records.push(name);
    if (kind === 'key' && name !== undefined && value !== undefined) {
      keys.set(name, value);
      puts++;
    }
    if (records.length >= recordsBeforeKill && puts >= putsBeforeKill) child.kill('SIGKILL');
  }
  await exited;
  return { records, keys };
}
