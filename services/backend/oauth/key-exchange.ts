import { SignJWT } from 'jose';
import { randomText } from '../../contracts/ids.ts';
import { agentTokenType, keyClaim } from '../../contracts/token.ts';
import { scopeOf } from './canonical-request.ts';
import type { OauthNeeds } from './oauth-needs.ts';
import { answer, authenticateProgram, type ProgramAnswer, type ProgramRequest, refuse } from './program.ts';

export const keyExchange = 'client_credentials';

/**
 * RFC 6749 §4.4, for programs that speak OAuth and cannot send a key. The token stands for the key, so it ends with the
 * key, and there is no refresh token (§4.4.3).
 */
export async function exchangeKey(backend: OauthNeeds, request: ProgramRequest): Promise<ProgramAnswer> {
  const { config, signingKeys } = backend;
  const { form } = request;
  const now = Date.now();
  const program = await authenticateProgram(backend, request, now);
  if ('refusal' in program) return program.refusal;
  if (form.getAll('resource').some((resource) => resource !== config.PUBLIC_MCP_URL)) {
    return refuse('invalid_target', `Tokens are for ${config.PUBLIC_MCP_URL} only.`);
  }
  const { key, user, expiresAt } = program.principal;
  const scope = scopeOf(form.get('scope') ?? '');
  const issuedAt = Math.floor(now / 1000);
  const lastAt = expiresAt === null ? Number.POSITIVE_INFINITY : Math.floor(expiresAt / 1000);
  const endsAt = Math.min(issuedAt + config.JWT_ACCESS_TOKEN_TTL, lastAt);
  const token = await new SignJWT({ scope, client_id: key, [keyClaim]: key })
    .setProtectedHeader({ alg: 'EdDSA', typ: agentTokenType, kid: signingKeys.verifying[0]?.kid ?? '' })
    .setIssuer(config.JWT_ISSUER)
    .setAudience(config.PUBLIC_MCP_URL)
    .setSubject(user)
    .setJti(randomText(16))
    .setIssuedAt(issuedAt)
    .setExpirationTime(endsAt)
    .sign(signingKeys.privateKey);
  return answer(200, { access_token: token, token_type: 'Bearer', expires_in: endsAt - issuedAt, scope });
}
