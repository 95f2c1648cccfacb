import { connectToBackend } from '../../stack/client/backend-client.ts';
import { createSignInLinkMutation, ownerQuery } from '../../stack/client/generated/operations.ts';
import type { Installation } from '../../stack/state/installation.ts';
import { firstWorkspace } from '../../stack/state/workspace-in-use.ts';
import type { Terminal } from '../output/terminal.ts';

/** A start must not fail or wait because of a link. */
const timeoutMs = 3000;

/** On a person's terminal: a link for the owner of a new platform. A file or a log would keep the link. */
export async function showFirstSignIn(terminal: Terminal, installation: Installation): Promise<void> {
  if (!terminal.isSeen) return;
  const link = await firstSignIn(installation).catch(() => null);
  if (link !== null) terminal.talk(`Sign in, once, within an hour: ${link}\nLater: svc open`);
}

/** Null once the owner has signed in. */
async function firstSignIn(installation: Installation): Promise<string | null> {
  const backend = await connectToBackend(installation);
  const signal = AbortSignal.timeout(timeoutMs);
  const { workspace } = await backend.send(ownerQuery, { name: firstWorkspace }, { signal });
  if (workspace === null || workspace.owner === null || workspace.owner.hasSignedIn) return null;
  const made = await backend.send(createSignInLinkMutation, { email: workspace.owner.email }, { signal });
  return made.createSignInLink.url;
}
