import { accountPath } from '../../../services/contracts/token.ts';
import { type BackendClient, connectToBackend, openBackendClient } from '../../client/backend-client.ts';
import { createSignInLinkMutation } from '../../client/generated/operations.ts';
import type { Installation } from '../../state/installation.ts';
import type { Platform } from '../platform.ts';

/** Signs a person in, and returns the token that the browser gets. */
export async function memberToken(installation: Installation, backendUrl: string, email: string): Promise<string> {
  const operator = await connectToBackend(installation);
  const { createSignInLink } = await operator.send(createSignInLinkMutation, { email });
  const { origin, hash } = new URL(createSignInLink.url);
  const response = await fetch(`${backendUrl}${accountPath}/link`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ token: hash.slice('#token='.length) }),
  });
  const cookies = response.headers.getSetCookie().join('\n');
  const [, token] = /access=([^;]+)/.exec(cookies) ?? [];
  if (token === undefined) throw new Error(`the sign-in was answered with ${response.status}`);
  return token;
}

/** A GraphQL client with that person's token. */
export async function memberClient({ installation, ports }: Platform, email: string): Promise<BackendClient> {
  const backendUrl = `http://127.0.0.1:${ports.backend}`;
  const token = await memberToken(installation, backendUrl, email);
  return openBackendClient([backendUrl], () => token);
}
