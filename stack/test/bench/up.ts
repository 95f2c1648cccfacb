import { setTimeout as pause } from 'node:timers/promises';
import type { Platform, PlatformOptions } from '../platform.ts';
import { type BenchPlatform, missingFor, startPlatform } from './bench-platform.ts';
import { atMost, type Figure, medianMs, reported, skipped } from './figure.ts';
import { eventually } from './processes.ts';
import { openCaller, targetOf } from './sides.ts';

const rounds = 5;
const settleMs = 20_000;
const megabyte = 1_048_576;

interface Shape extends PlatformOptions {
  readonly upMaxMs: number;
  readonly memoryMaxMb?: number;
}

const separate = { topology: 'distributed' } as const;
/** The elections of Dgraph are most of the time of its starts. */
const shapes: Readonly<Record<string, Shape>> = {
  'one process': { upMaxMs: 1500, memoryMaxMb: 120 },
  'separate processes': { ...separate, upMaxMs: 4000 },
  'separate processes, Dgraph': { ...separate, graph: 'dgraph', upMaxMs: 10_000 },
  containers: { ...separate, engine: 'docker', upMaxMs: 15_000, memoryMaxMb: 350 },
  'containers, Dgraph': { ...separate, engine: 'docker', graph: 'dgraph', upMaxMs: 15_000 },
};

/** How long a platform of each shape takes to start, and its memory while it does nothing. */
export async function measureUp(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, { upMaxMs, memoryMaxMb, ...options }] of Object.entries(shapes)) {
    const missing = await missingFor(options);
    if (missing !== null) {
      figures.push(skipped(name, missing));
      continue;
    }
    await using bench = await startPlatform(options);
    const times: number[] = [];
    while (times.length < rounds) times.push(await timeOfUp(bench));
    figures.push(medianMs(`${name}: svc up to the first answered call`, times, upMaxMs));
    await pause(settleMs);
    const what = `${name}: memory of the idle platform, without NATS`;
    const memoryMb = await idleMb(bench.platform);
    figures.push(
      memoryMaxMb === undefined ? reported(what, memoryMb, 'MB') : atMost(what, memoryMb, memoryMaxMb, 'MB'),
    );
  }
  return figures;
}

/** From nothing running to the first answered call; asked for while `svc up` still works. */
async function timeOfUp({ platform, key }: BenchPlatform): Promise<number> {
  await platform.svc('down');
  const begun = performance.now();
  const started = platform.up();
  await eventually('the first call', async () => {
    const caller = await openCaller(targetOf(platform, key));
    await caller.call().finally(caller.close);
  });
  const time = performance.now() - begun;
  await started;
  return time;
}

/** Services of one process have the same memory. */
async function idleMb(platform: Platform): Promise<number> {
  const own = [...(await platform.services()).values()].filter(({ name }) => name !== 'nats');
  const memories = new Map(own.map(({ pid, container, memoryBytes }) => [pid ?? container, memoryBytes ?? 0]));
  return [...memories.values()].reduce((sum, bytes) => sum + bytes, 0) / megabyte;
}
