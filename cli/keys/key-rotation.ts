import { ago, span } from '../output/times-and-sizes.ts';

/** Whether the older key of a rotation can end without an agent losing its access, and why. */
export interface Verdict {
  readonly isSafe: boolean;
  readonly why: string;
}

export interface TwoKeys {
  readonly key: { readonly firstUsedAt: number | null };
  readonly old: { readonly lastUsedAt: number | null; readonly lastUsedStepMs: number };
}

/** A use reaches the backend a few seconds later. */
const deliveryMs = 10_000;

export function judgeOldKey({ key, old }: TwoKeys, now: number): Verdict {
  if (old.lastUsedAt === null) return { isSafe: true, why: 'The old key was never used.' };
  const used = `The old key was last used ${ago(old.lastUsedAt, now)}`;
  if (key.firstUsedAt === null) return { isSafe: false, why: `${used}, and the new key was not used yet.` };
  if (old.lastUsedAt >= key.firstUsedAt) {
    return { isSafe: false, why: `${used}, after an agent first used the new key.` };
  }
  const unknownMs = old.lastUsedAt + old.lastUsedStepMs + deliveryMs - now;
  if (unknownMs > 0) {
    return { isSafe: false, why: `${used}. Later uses are recorded in ${span(unknownMs)} at the latest.` };
  }
  return { isSafe: true, why: `${used}, before an agent first used the new key.` };
}
