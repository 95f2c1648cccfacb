import { findFirstSignIn } from '../../stack/client/first-sign-in.ts';
import type { Installation } from '../../stack/state/installation.ts';
import type { Terminal } from '../output/terminal.ts';

/** On a person's terminal: a link for the owner of a new platform. A file or a log would keep the link. */
export async function showFirstSignIn(terminal: Terminal, installation: Installation): Promise<void> {
  if (!terminal.isSeen) return;
  const signIn = await findFirstSignIn(installation);
  if (signIn !== null) terminal.talk(`${signIn}\nLater: svc open`);
}
