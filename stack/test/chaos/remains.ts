import { z } from 'zod';
import { residentBytes } from '../bench/processes.ts';
import { descriptorsOf } from '../running-processes.ts';
import type { ChaosPlatform } from './chaos-platform.ts';

/** What a platform holds at a moment of rest. */
export interface Holding {
  readonly processes: number;
  readonly descriptors: number;
  readonly memoryBytes: number;
  readonly connections: number;
  readonly subscriptions: number;
}

const megabyte = 1024 * 1024;

interface Slack {
  /** Of what there was before. */
  readonly share: number;
  /** The share of a large platform would hide a leak, so it has a bound. */
  readonly shareMax: number;
  readonly spare: number;
}

/** How much of each comes and goes. What is still there beyond that is a leak. */
const slack: Readonly<Record<keyof Holding, Slack>> = {
  processes: { share: 0, shareMax: 0, spare: 0 },
  descriptors: { share: 0.2, shareMax: 200, spare: 40 },
  memoryBytes: { share: 0.6, shareMax: 700 * megabyte, spare: 100 * megabyte },
  connections: { share: 0, shareMax: 0, spare: 0 },
  subscriptions: { share: 0.1, shareMax: 300, spare: 10 },
};

const busState = z.object({ connections: z.number(), subscriptions: z.number() });

export async function holdingOf({ engine }: ChaosPlatform): Promise<Holding> {
  const own = await engine.processes();
  const sum = (of: (pid: number) => number) => own.reduce((total, pid) => total + whileItLives(() => of(pid)), 0);
  const nodes = (await engine.busStates()).map((state) => busState.parse(state));
  return {
    processes: own.length,
    descriptors: sum(descriptorsOf),
    memoryBytes: sum(residentBytes),
    connections: nodes.reduce((total, node) => total + node.connections, 0),
    subscriptions: nodes.reduce((total, node) => total + node.subscriptions, 0),
  };
}

/** What there is more of than there may be, in words. */
export function leaks(before: Holding, after: Holding): readonly string[] {
  return Object.entries(slack).flatMap(([name, { share, shareMax, spare }]) => {
    const kind = name as keyof Holding;
    const allowed = before[kind] + Math.min(before[kind] * share, shareMax) + spare;
    return after[kind] > allowed ? [`${kind}: ${before[kind]} before, ${after[kind]} after`] : [];
  });
}

function whileItLives(measure: () => number): number {
  try {
    return measure();
  } catch {
    return 0;
  }
}
