import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../contracts/errors.ts';
import { accessTokenIn } from '../accounts/session-cookies.ts';
import { requireBrowser, requireOrigin } from '../http/cross-origin.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import type { GraphqlNeeds } from './graphql-needs.ts';

/** A program sends its token in the header (RFC 6750 §2.1), a browser in a cookie. */
export async function authenticate(
  backend: GraphqlNeeds,
  request: Pick<IncomingMessage, 'headers'>,
  origins: readonly string[],
): Promise<TokenPrincipal> {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token !== undefined) {
    const principal = await backend.verifyToken(token);
    requireOrigin(request, origins);
    return principal;
  }
  const cookie = accessTokenIn(backend, request.headers);
  if (cookie === undefined) {
    throw new SvcError('unauthenticated', 'A token is missing: send it as "Authorization: Bearer <token>".', {
      hint: 'In the browser: sign in.',
    });
  }
  requireBrowser(request, origins);
  return await backend.verifyToken(cookie);
}
