import { decodeJwt } from 'jose';
import { checkAgentToken } from '../keys/check-key.ts';
import type { OauthNeeds } from './oauth-needs.ts';
import { answer, authenticateProgram, type ProgramAnswer, type ProgramRequest, refuse } from './program.ts';

/**
 * RFC 7662: whether an access token is still good, which its signature does not say. A program authenticates by a key
 * as in `exchangeKey`, and learns only of tokens of the workspace of its key. Everything else is not active (§2.2).
 */
export async function introspectToken(backend: OauthNeeds, request: ProgramRequest): Promise<ProgramAnswer> {
  const now = Date.now();
  const program = await authenticateProgram(backend, request, now);
  if ('refusal' in program) return program.refusal;
  const { workspace, suspended } = program.principal;
  const token = request.form.get('token');
  if (token === null) return refuse('invalid_request', 'The form has no "token".');
  const reply = suspended ? null : await checkAgentToken(backend, token, now);
  if (!reply?.ok || reply.principal.suspended || reply.principal.workspace !== workspace) {
    return answer(200, { active: false });
  }
  const { iss, aud, sub, client_id, scope, iat, jti } = decodeJwt(token);
  const exp = Math.floor((reply.principal.expiresAt ?? now) / 1000);
  return answer(200, { active: true, token_type: 'Bearer', iss, aud, sub, client_id, scope, iat, exp, jti });
}
