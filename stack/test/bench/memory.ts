import { setTimeout as pause } from 'node:timers/promises';
import { type BenchPlatform, pidOf } from './bench-platform.ts';
import { atMost, type Figure } from './figure.ts';
import { Connection, postBytes } from './load.ts';
import { residentBytes, svc } from './processes.ts';

const sessions = 10_000;
const settleMs = 20_000;

/** The platform that was just started and does nothing; then with sessions that do nothing. */
export async function measureMemory(platform: BenchPlatform): Promise<Figure[]> {
  await svc(platform.dir, 'down');
  await svc(platform.dir, 'up');
  const pid = await pidOf(platform.dir);
  await pause(settleMs);
  const idle = residentBytes(pid);
  // The first thousand sessions pay for code and buffers that are then there: what one more costs is measured between here and there.
  await openSessions(platform, 2000);
  await pause(settleMs);
  const before = residentBytes(pid);
  await openSessions(platform, sessions);
  await pause(settleMs);
  const after = residentBytes(pid);
  return [
    atMost('memory of the idle platform with the demo', idle / 1_048_576, 120, 'MB'),
    atMost('10,000 idle sessions: memory each', (after - before) / sessions / 1024, 3, 'KB', { before, after }),
  ];
}

async function openSessions(platform: BenchPlatform, count: number): Promise<void> {
  const target = {
    port: Number(platform.mcpUrl.port),
    path: '/mcp',
    headers: { authorization: `Bearer ${platform.key}` },
  };
  const connections = await Promise.all(Array.from({ length: 16 }, () => Connection.open(target.port)));
  const request = postBytes(target, {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  });
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
