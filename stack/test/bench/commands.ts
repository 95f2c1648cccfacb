import type { BenchPlatform } from './bench-platform.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { median } from './load.ts';
import { eventually, svc, timeOfBareNode, timeOfSvc } from './processes.ts';
import { openCaller } from './sides.ts';

const rounds = 9;

/** How long commands take, beside node alone, turn about. */
export async function measureCommands(platform: BenchPlatform): Promise<Figure[]> {
  const times = { node: [] as number[], version: [] as number[], help: [] as number[], status: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.node.push(await timeOfBareNode());
    times.version.push(await timeOfSvc(null, '--version'));
    times.help.push(await timeOfSvc(null, '--help'));
    times.status.push(await timeOfSvc(platform.dir, 'status'));
  }
  return [
    reported('node -e 0', median(times.node), 'ms', { all: times.node }),
    atMost('svc --version', median(times.version), 60, 'ms', { all: times.version }),
    atMost('svc --help', median(times.help), 150, 'ms', { all: times.help }),
    atMost('svc status', median(times.status), 250, 'ms', { all: times.status }),
  ];
}

/** From nothing running to the first call that is answered; asked for while `svc up` still works. */
export async function measureUp(
  platform: Pick<BenchPlatform, 'dir' | 'mcpUrl' | 'key'>,
  limitMs = 1500,
): Promise<Figure[]> {
  const times: number[] = [];
  const target = {
    port: Number(platform.mcpUrl.port),
    path: `/mcp${platform.mcpUrl.search}`,
    headers: { authorization: `Bearer ${platform.key}` },
  };
  for (let round = 0; round < 5; round++) {
    await svc(platform.dir, 'down');
    const start = performance.now();
    const started = svc(platform.dir, 'up');
    await eventually('the first call', async () => {
      const { connection, request, expected } = await openCaller(target, {
        name: 'add',
        arguments: { a: 20, b: 22 },
        expected: '42',
      });
      const answer = await connection.ask(request);
      connection.close();
      if (!answer.includes(expected)) throw new Error(answer.toString());
    });
    times.push(performance.now() - start);
    await started;
  }
  return [
    atMost('svc up, from nothing running to the first answered call', median(times), limitMs, 'ms', { all: times }),
  ];
}
