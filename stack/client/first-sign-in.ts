import type { Installation } from '../state/installation.ts';
import { firstWorkspace } from '../state/workspace-in-use.ts';
import { connectToBackend } from './backend-client.ts';
import { createSignInLinkMutation, ownerQuery } from './generated/operations.ts';

/** A start must not fail or wait because of a link. */
const timeoutMs = 3000;

/** A link for the owner of a new platform, with its words. Null once the owner has signed in, and without an answer. */
export async function findFirstSignIn(installation: Installation): Promise<string | null> {
  const link = await makeLink(installation).catch(() => null);
  return link === null ? null : `Sign in, once, within an hour: ${link}`;
}

async function makeLink(installation: Installation): Promise<string | null> {
  const backend = await connectToBackend(installation);
  const signal = AbortSignal.timeout(timeoutMs);
  const { workspace } = await backend.send(ownerQuery, { name: firstWorkspace }, { signal });
  if (workspace === null || workspace.owner === null || workspace.owner.hasSignedIn) return null;
  const made = await backend.send(createSignInLinkMutation, { email: workspace.owner.email }, { signal });
  return made.createSignInLink.url;
}
