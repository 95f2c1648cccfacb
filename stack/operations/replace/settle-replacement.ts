import type { Installation } from '../../state/installation.ts';
import { endAlone } from '../../state/left-processes.ts';
import type { PlacesAccess } from './fill-places.ts';
import { forgetReplacement, type Replacement, readReplacement, replacementName } from './replacement.ts';
import { sideName } from './side.ts';

/** Ends a replacement that was cut short. Returns it as it was found, or null. The caller has the lock of a command. */
export async function settleReplacement(
  installation: Installation,
  options: Omit<PlacesAccess, 'signal'>,
): Promise<Replacement | null> {
  const state = readReplacement(installation);
  if (state === null) return null;
  await endAlone(installation);
  if (state.step === 'waiting') return null;
  if (state.step === 'confirming') forgetReplacement(installation, state);
  else {
    // Loaded on use: it opens every kind of content, and most starts take nothing back.
    const { takeBack } = await import('./put-back.ts');
    await takeBack(installation, state, options);
  }
  options.onNotice(`${replacementName(state)} that began at ${state.startedAt} ${outcomeOf(state)}.`);
  return state;
}

function outcomeOf({ command, step, from }: Replacement): string {
  if (step === 'confirming') return 'was confirmed, and the rest of the data before is removed now';
  if (step === 'undoing') return `was being undone, and that is finished now: it runs ${sideName(from)} again`;
  // svc.yaml already has the new number of NATS nodes, and the start that follows makes the change.
  const isFinished = command === 'nodes' && step === 'filling';
  return `was cut short and ${isFinished ? 'is finished now' : 'was taken back: nothing has changed'}`;
}
