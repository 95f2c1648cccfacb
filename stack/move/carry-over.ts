import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { carryContent, type KindOfContent, readContent } from '../../services/backend/graph/content.ts';
import { copyGraph, openGraphContent } from '../../services/backend/graph/open-content.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { type CarriedBus, carryBus, verifyBus } from './carry-bus.ts';
import { stagingDirOf } from './move-state.ts';
import type { MovePlan } from './plan-move.ts';
import { type SideOptions, withSide } from './side-content.ts';
import { graphIn } from './sides.ts';

export interface Carrying extends Pick<SideOptions, 'env' | 'born' | 'signal'> {
  readonly plan: MovePlan;
}

/** What was read of the old side, to be found again on the new one. */
export interface Carried {
  readonly bus: CarriedBus | null;
  readonly graph: readonly KindOfContent[];
}

/** A graph that stays the file that it is is copied to what is kept; returns what the copy holds. */
export async function keepGraph({ plan }: Carrying, kept: string): Promise<readonly KindOfContent[]> {
  const file = graphIn(plan.installation.dataDir, 'sqlite');
  if (plan.carries.graph || !existsSync(file)) return [];
  const copy = graphIn(kept, 'sqlite');
  await copyGraph(file, copy);
  return await contentOf(copy);
}

/** Makes of the new side what has to be carried, where nobody looks for it yet. */
export async function carryOver(carrying: Carrying): Promise<Carried> {
  const { plan, ...shared } = carrying;
  const { installation, carries } = plan;
  const staging = stagingDirOf(installation);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { mode: 0o700 });
  const old = { ...shared, plan: plan.from, dir: installation.dataDir, wanted: carries, to: 'read' } as const;
  return await withSide(old, async (from) => {
    const wanted = { bus: from.bus !== null, graph: from.graph !== null };
    const fresh = { ...shared, plan: plan.to, dir: staging, wanted, to: 'fill' } as const;
    if (!wanted.bus && !wanted.graph) return { bus: null, graph: [] };
    return await withSide(fresh, async (to) => {
      const bus = from.bus !== null && to.bus !== null ? await carryBus(from.bus, to.bus) : null;
      if (from.graph === null || to.graph === null) return { bus, graph: [] };
      const graph = await readContent(from.graph, shared.signal);
      await carryContent(from.graph, to.graph, shared.signal);
      return { bus, graph };
    });
  });
}

/** Opened anew: what is read is what will be found. Throws where it is not what was read of the old side. */
export async function verifyCarried(carrying: Carrying, carried: Carried): Promise<readonly KindOfContent[]> {
  const { plan, ...shared } = carrying;
  const wanted = { bus: carried.bus !== null, graph: carried.graph.length > 0 };
  if (!wanted.bus && !wanted.graph) return [];
  const fresh = { ...shared, plan: plan.to, dir: stagingDirOf(plan.installation), wanted, to: 'read' } as const;
  return await withSide(fresh, async (there) => {
    const graph = there.graph === null ? [] : await readContent(there.graph, shared.signal);
    refuseDifferent(carried.graph, graph);
    const bus = carried.bus === null || there.bus === null ? [] : await verifyBus(carried.bus, there.bus);
    return [...graph, ...bus];
  });
}

/** Throws where a graph that stays the file that it is is not what was kept of it. */
export async function verifyKept({ plan }: Carrying, kept: readonly KindOfContent[]): Promise<void> {
  if (plan.carries.graph) return;
  const file = graphIn(plan.installation.dataDir, 'sqlite');
  refuseDifferent(kept, existsSync(file) ? await contentOf(file) : []);
}

function refuseDifferent(expected: readonly KindOfContent[], found: readonly KindOfContent[]): void {
  const differing = expected.find(({ kind, count, digest }) => {
    const same = found.find((other) => other.kind === kind);
    return same?.count !== count || same.digest !== digest;
  });
  if (differing === undefined && found.length === expected.length) return;
  const what = differing === undefined ? 'there is more of it' : differing.kind;
  throw new SvcError('internal', `The graph on the new side is not that of the old one: ${what}.`);
}

async function contentOf(file: string): Promise<readonly KindOfContent[]> {
  const content = await openGraphContent({ engine: 'sqlite', file, readOnly: true });
  try {
    return await readContent(content);
  } finally {
    await content.close();
  }
}
