import type { Installation } from '../../state/installation.ts';
import { endAlone } from '../../state/left-processes.ts';
import type { PlacesAccess } from './fill-places.ts';
import { forgetReplacement, type Replacement, readReplacement, refuseOlder, replacementName } from './replacement.ts';
import { sideName } from './side.ts';

/** Ends a replacement that was cut short. Returns it as it was found, or null. The caller has the lock of a command. */
export async function settleReplacement(
  installation: Installation,
  options: Omit<PlacesAccess, 'signal'>,
): Promise<Replacement | null> {
  refuseOlder(installation, { mayWait: true });
  const state = readReplacement(installation);
  if (state === null) return null;
  await endAlone(installation);
  // Loaded on use: it opens every kind of content, and most starts take nothing back.
  const takeBack = async () => (await import('./put-back.ts')).takeBack(installation, state, options);
  // The number of NATS nodes is that of svc.yaml, which says the new one.
  const isFinished = state.command === 'nodes' && state.step === 'filling';
  const began = `${replacementName(state)} that began at ${state.startedAt}`;
  switch (state.step) {
    case 'waiting':
      return null;
    case 'keeping':
    case 'filling':
      await takeBack();
      options.onNotice(
        `${began} was cut short and ${isFinished ? 'is finished now' : 'was taken back: everything is as it was before'}.`,
      );
      return state;
    case 'undoing':
      await takeBack();
      options.onNotice(`${began} was being undone, and that is finished now: it runs ${sideName(state.from)} again.`);
      return state;
    case 'confirming':
      forgetReplacement(installation, state);
      options.onNotice(`${began} was confirmed, and the rest of the data before is removed now.`);
      return state;
  }
}
