import type { BenchPlatform } from './bench-platform.ts';
import { type Figure, medianMs } from './figure.ts';
import { eventually, timeOfNode, timeOfSvc } from './processes.ts';
import { add, openCaller, targetOf } from './sides.ts';

const rounds = 9;

/** How long commands take, beside node alone, turn about. */
export async function measureCommands({ platform }: BenchPlatform): Promise<Figure[]> {
  const times = { node: [] as number[], version: [] as number[], help: [] as number[], status: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.node.push(await timeOfNode('-e', '0'));
    times.version.push(await timeOfSvc('--version'));
    times.help.push(await timeOfSvc('--help'));
    times.status.push(await timeOfSvc('status', '--dir', platform.installation.dir));
  }
  return [
    medianMs('node -e 0', times.node),
    medianMs('svc --version', times.version, 60),
    medianMs('svc --help', times.help, 150),
    medianMs('svc status', times.status, 250),
  ];
}

/** From nothing running to the first call that is answered; asked for while `svc up` still works. */
export async function measureUp(
  { platform, mcpUrl, key }: Pick<BenchPlatform, 'platform' | 'mcpUrl' | 'key'>,
  limitMs = 1500,
): Promise<Figure[]> {
  const times: number[] = [];
  const firstCall = async () => {
    const { connection, request, expected } = await openCaller(targetOf(mcpUrl, key), add);
    const answer = await connection.ask(request);
    connection.close();
    if (!answer.includes(expected)) throw new Error(answer.toString());
  };
  for (let round = 0; round < 5; round++) {
    await platform.svc('down');
    const begun = performance.now();
    const started = platform.up();
    await eventually('the first call', firstCall);
    times.push(performance.now() - begun);
    await started;
  }
  return [medianMs('svc up, from nothing running to the first answered call', times, limitMs)];
}
