import { SignJWT } from 'jose';
import type { WorkspaceId } from '../../contracts/ids.ts';
import { Secret } from '../../contracts/secret.ts';
import {
  mcpTokenAudience,
  sessionClaim,
  tokenKindClaim,
  toolTokenLifetimeSeconds,
  workspaceClaim,
} from '../../contracts/token.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import type { WithGraph } from '../graph/graph.ts';
import { getAccess, type Right } from '../members/access.ts';
import type { SigningKeys } from '../tokens/signing-keys.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

/** The right to try tools: the token opens every tool of the workspace, whatever roles and rules say. */
export const toolsRight: Right = 'administer';

export interface ToolToken {
  readonly token: Secret;
  readonly expiresAt: number;
}

type TokenNeeds = WithGraph & WithConfig<'JWT_ISSUER'> & { readonly signingKeys: SigningKeys };

/**
 * A token with which the caller's page calls tools of one workspace at remote-mcp, as an agent does. The backend checks
 * session, membership and role again whenever remote-mcp asks for the owner of the token.
 */
export async function createToolToken(
  { graph, config, signingKeys }: TokenNeeds,
  { principal, workspace }: { readonly principal: TokenPrincipal; readonly workspace: WorkspaceId },
): Promise<ToolToken> {
  await getAccess(graph, { principal, workspace, right: toolsRight });
  const expiresAt = Math.floor(Date.now() / 1000) + toolTokenLifetimeSeconds;
  const claims =
    principal.kind === 'operator'
      ? { [tokenKindClaim]: 'operator' }
      : { [tokenKindClaim]: 'session', [sessionClaim]: principal.session };
  const token = await new SignJWT({ ...claims, [workspaceClaim]: workspace })
    .setProtectedHeader({ alg: 'EdDSA', kid: signingKeys.verifying[0]?.kid ?? '' })
    .setIssuer(config.JWT_ISSUER)
    .setAudience(mcpTokenAudience)
    .setSubject(principal.kind === 'operator' ? principal.name : principal.user)
    .setExpirationTime(expiresAt)
    .sign(signingKeys.privateKey);
  return { token: new Secret(token), expiresAt: expiresAt * 1000 };
}
