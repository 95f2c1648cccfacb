import { SvcError } from '../../../services/contracts/errors.ts';
import type { Installation } from '../../state/installation.ts';
import { lockHolder } from '../../state/lock.ts';
import { type Replacement, readReplacement } from './replacement.ts';
import { replacementName } from './replacement-name.ts';

/** What `svc up` does with a replacement that a killed command left at this step; null if it waits for the operator's decision. */
const settled: Readonly<Record<Replacement['step'], string | null>> = {
  keeping: 'takes it back',
  filling: 'takes it back',
  waiting: null,
  undoing: 'finishes it',
  confirming: 'finishes it',
};

/** A move or restore that was cut short, and the command that ends it, in words. Null if there is none, or a command is at work on it. */
export function describeInterruptedReplacement(installation: Installation): string | null {
  if (lockHolder(installation, 'command') !== null) return null;
  try {
    return interruptionOf(readReplacement(installation));
  } catch (error) {
    // A status is an answer, whatever another version has written.
    if (error instanceof SvcError) return error.message;
    throw error;
  }
}

export function interruptionOf(state: Replacement | null): string | null {
  if (state === null) return null;
  const next = state.command === 'nodes' ? 'finishes it' : settled[state.step];
  if (next === null) return null;
  return `${replacementName(state)} that began at ${state.startedAt} was interrupted: svc up ${next}.`;
}
