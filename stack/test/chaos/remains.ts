import { z } from 'zod';
import { residentBytes } from '../bench/processes.ts';
import { descriptorsOf } from '../running-processes.ts';
import type { ChaosPlatform } from './platform.ts';

/** What a platform holds at a moment of rest. */
export interface Holding {
  readonly processes: number;
  readonly descriptors: number;
  readonly memoryBytes: number;
  readonly connections: number;
  readonly subscriptions: number;
}

/** What is still there a while after is a leak; a little of each comes and goes. */
const slack: Readonly<Record<keyof Holding, (before: number) => number>> = {
  processes: (before) => before,
  descriptors: (before) => before * 1.2 + 40,
  memoryBytes: (before) => before * 1.6 + 100 * 1024 * 1024,
  connections: (before) => before,
  subscriptions: (before) => before * 1.1 + 10,
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
  return Object.entries(slack).flatMap(([name, allowed]) => {
    const kind = name as keyof Holding;
    return after[kind] > allowed(before[kind]) ? [`${kind}: ${before[kind]} before, ${after[kind]} after`] : [];
  });
}

function whileItLives(measure: () => number): number {
  try {
    return measure();
  } catch {
    return 0;
  }
}
