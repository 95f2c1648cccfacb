import { SvcError } from '../../../services/contracts/errors.ts';
import type { Installation } from '../../state/installation.ts';
import { endAlone } from '../../state/left-processes.ts';
import { lockHolder } from '../../state/lock.ts';
import { type PutBackOptions, takeBack } from './put-back.ts';
import { forgetReplacement, type Replacement, readReplacement, refuseOlder, replacementName } from './replacement.ts';
import { sideName } from './side.ts';

/**
 * Brings a replacement that was cut short to its end before anything is started. Returns the replacement as it was found, or null if there was
 * nothing to do. The caller has the lock of a command.
 */
export async function settleReplacement(
  installation: Installation,
  options: PutBackOptions,
): Promise<Replacement | null> {
  refuseOlder(installation, { mayWait: true });
  const state = readReplacement(installation);
  if (state === null) return null;
  await endAlone(installation);
  const began = `${replacementName(state)} that began at ${state.startedAt}`;
  switch (state.step) {
    case 'waiting':
      return null;
    case 'keeping':
    case 'filling':
      await takeBack(installation, state, options);
      options.onNotice(`${began} was cut short and ${describeTakenBack(state)}.`);
      return state;
    case 'undoing':
      await takeBack(installation, state, options);
      options.onNotice(`${began} was being undone, and that is finished now: it runs ${sideName(state.from)} again.`);
      return state;
    case 'confirming':
      forgetReplacement(installation, state);
      options.onNotice(`${began} was confirmed, and the rest of the data before is removed now.`);
      return state;
  }
}

/** The number of NATS nodes is that of svc.yaml, which says the new one. */
function describeTakenBack({ command, step }: Replacement): string {
  return command === 'nodes' && step === 'filling'
    ? 'is finished now'
    : 'was taken back: everything is as it was before';
}

/** Refuses another replacement while one waits to be confirmed. */
export function refuseWaiting(installation: Installation): void {
  refuseOlder(installation, { mayWait: false });
  const waiting = readReplacement(installation);
  if (waiting === null) return;
  const { command, kept } = waiting;
  const before = command === 'move' ? 'old side' : 'data before';
  throw new SvcError('conflict', `${replacementName(waiting)} is not confirmed yet: the ${before} is in ${kept}.`, {
    hint: `If all is well: svc ${command} --confirm. To go back to it: svc ${command} --undo`,
  });
}

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
