import { readFileSync } from 'node:fs';
import type { KindOfContent } from '../../../services/backend/graph/content.ts';
import { readDefinition } from '../../settings/check.ts';
import { replaceData } from '../replace/replace.ts';
import { type Replacement, readReplacement, refuseWaiting } from '../replace/replacement.ts';
import { isSameSide, type Side, sideFor, sideOf, type WantedSide } from '../replace/side.ts';
import { type ReplacingOptions, withReplacing } from '../replace/with-replacing.ts';
import { applyChanges } from './definition-changes.ts';
import { type MovePlan, planMove } from './plan-move.ts';

export interface MoveOptions extends Omit<ReplacingOptions, 'done' | 'onProgress' | 'signal'> {
  readonly to: WantedSide;
  /** Asked with everything that is known, before anything is stopped. Throws to decline. */
  readonly confirm: (plan: MovePlan) => Promise<void>;
  readonly onProgress?: ReplacingOptions['onProgress'];
  readonly signal?: AbortSignal;
}

export interface Moved {
  /** It was there already: `waiting` for its move to be confirmed, or `unchanged`. */
  readonly state: 'moved' | 'waiting' | 'unchanged';
  readonly from: Side;
  readonly to: Side;
  readonly moved: readonly KindOfContent[];
  /** Folder with the data before, relative to the installation; null where nothing is kept. */
  readonly kept: string | null;
  readonly downMs: number | null;
}

/** Moves an installation to another side. The data before is kept until the move is confirmed. */
export async function move(options: MoveOptions): Promise<Moved> {
  const { installation, onProgress = () => undefined, signal = new AbortController().signal } = options;
  return await withReplacing({ ...options, onProgress, signal, done: 'All was moved' }, async (access, begin) => {
    const definition = readDefinition(installation.definitionFile);
    const now = sideOf(definition);
    const to = sideFor(options.to, now);
    if (isSameSide(now, to)) return alreadyAt(to, readReplacement(installation));
    refuseWaiting(installation);
    const plan = await planMove(installation, to, access);
    await options.confirm(plan);
    signal.throwIfAborted();
    const wasRunning = await begin(plan.to);
    const text = readFileSync(installation.definitionFile, 'utf8');
    const { moved, kept } = await replaceData({
      ...{ command: 'move', from: plan.from, to: plan.to, kinds: plan.carries, restored: null },
      definition: applyChanges(text, plan.changes),
      ...{ wasRunning, env: options.env, signal, onProgress },
    });
    return { state: 'moved' as const, from: now, to, moved, kept };
  });
}

function alreadyAt(to: Side, waiting: Replacement | null): Omit<Moved, 'downMs'> {
  if (waiting?.command !== 'move') return { state: 'unchanged', from: to, to, moved: [], kept: null };
  const { from, moved, kept } = waiting;
  return { state: 'waiting', from, to, moved, kept };
}
