import type { IncomingHttpHeaders } from 'node:http';
import { SvcError } from '../../contracts/errors.ts';
import type { UserPrincipal, VerifyToken } from '../tokens/verify-token.ts';
import type { AddressConfig } from './cookies.ts';
import { accessTokenIn } from './session-cookies.ts';

/** The person who is signed in in the browser of a request, or null. */
export async function findSignedIn(
  backend: AddressConfig & { readonly verifyToken: VerifyToken },
  headers: IncomingHttpHeaders,
): Promise<UserPrincipal | null> {
  const token = accessTokenIn(backend, headers);
  if (token === undefined) return null;
  try {
    const principal = await backend.verifyToken(token);
    return principal.kind === 'user' ? principal : null;
  } catch (thrown) {
    if (thrown instanceof SvcError && thrown.code === 'unauthenticated') return null;
    throw thrown;
  }
}
