import { setTimeout as pause } from 'node:timers/promises';
import { type BenchPlatform, serviceOf } from './bench-platform.ts';
import { atMost, type Figure } from './figure.ts';
import { Connection, postBytes } from './load.ts';
import { residentBytes } from './processes.ts';
import { initialize, targetOf } from './sides.ts';

const sessions = 10_000;
const settleMs = 20_000;

/** The platform that was just started and does nothing; then with sessions that do nothing. */
export async function measureMemory({ platform, mcpUrl, key }: BenchPlatform): Promise<Figure[]> {
  await platform.svc('down');
  await platform.up();
  const { pid } = await serviceOf(platform, 'backend');
  const residentAtRest = async () => {
    await pause(settleMs);
    return residentBytes(pid);
  };
  const idle = await residentAtRest();
  // The first thousand sessions also pay for code and buffers, so the cost of one more is measured after them.
  await openSessions(mcpUrl, key, 2000);
  const before = await residentAtRest();
  await openSessions(mcpUrl, key, sessions);
  const after = await residentAtRest();
  return [
    atMost('memory of the idle platform with the demo', idle / 1_048_576, 120, 'MB'),
    atMost('10,000 idle sessions: memory each', (after - before) / sessions / 1024, 3, 'KB', { before, after }),
  ];
}

async function openSessions(url: URL, key: string, count: number): Promise<void> {
  const target = targetOf(url, key);
  const connections = await Promise.all(Array.from({ length: 16 }, () => Connection.open(target.port)));
  const request = postBytes(target, initialize);
  let left = count;
  await Promise.all(
    connections.map(async (connection) => {
      while (left-- > 0) {
        const answer = await connection.ask(request);
        if (!answer.includes('"serverInfo"')) throw new Error(`No session: ${answer.toString().slice(0, 300)}`);
      }
      connection.close();
    }),
  );
}
