import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { variables } from '../../services/contracts/env/variables.ts';
import {
  mcpTokenAudience,
  operatorTokenLifetimeSeconds,
  type TokenKind,
  tokenAudience,
  tokenKindClaim,
  workspaceClaim,
} from '../../services/contracts/token.ts';
import { readSecret, secretFilesOf } from '../secrets/secrets.ts';
import type { Installation } from '../state/installation.ts';

/** Makes a new token before the last one expires: the backend remembers tokens, and has to check each new one. */
export function operatorTokens(
  installation: Pick<Installation, 'secretsDir'>,
  issuer = variables.backend.JWT_ISSUER.default,
): () => string {
  const key = createPrivateKey(readSecret(secretFilesOf(installation).jwtPrivateKey));
  const renewAfterMs = (operatorTokenLifetimeSeconds * 1000) / 2;
  let token = '';
  let mintedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = Date.now();
    if (nowMs - mintedAt >= renewAfterMs) {
      token = mintToken(key, issuer, Math.floor(nowMs / 1000));
      mintedAt = nowMs;
    }
    return token;
  };
}

/** A token with which the operator calls tools of one workspace at remote-mcp, in place of an API key. */
export function mintMcpToken(
  installation: Pick<Installation, 'secretsDir'>,
  workspace: string,
  issuer = variables.backend.JWT_ISSUER.default,
): string {
  const key = createPrivateKey(readSecret(secretFilesOf(installation).jwtPrivateKey));
  return mintToken(key, issuer, Math.floor(Date.now() / 1000), {
    aud: mcpTokenAudience,
    [workspaceClaim]: workspace,
  });
}

/** A JWT (RFC 7519), signed with EdDSA (RFC 8037 §3.1), that authenticates the operator. */
function mintToken(key: KeyObject, issuer: string, now: number, more: object = { aud: tokenAudience }): string {
  const claims = {
    iss: issuer,
    ...more,
    sub: 'operator',
    [tokenKindClaim]: 'operator' satisfies TokenKind,
    iat: now,
    exp: now + operatorTokenLifetimeSeconds,
    jti: randomUUID(),
  };
  const signed = `${encode({ alg: 'EdDSA', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
