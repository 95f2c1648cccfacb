import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { variables } from '../../services/contracts/env/variables.ts';
import {
  operatorTokenLifetimeSeconds,
  type TokenKind,
  tokenAudience,
  tokenKindClaim,
} from '../../services/contracts/token.ts';
import { readSecret, secretFilesOf } from '../secrets/secrets.ts';
import type { Installation } from '../state/installation.ts';

/** Makes a new token before the last one expires: the backend remembers tokens, and has to check each new one. */
export function operatorTokens(
  installation: Installation,
  issuer = variables.backend.JWT_ISSUER.default,
): () => string {
  const privateKey = readSecret(secretFilesOf(installation).jwtPrivateKey);
  const renewAfterMs = (operatorTokenLifetimeSeconds * 1000) / 2;
  let token = '';
  let mintedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = Date.now();
    if (nowMs - mintedAt >= renewAfterMs) {
      token = mintOperatorToken({ privateKey, issuer, nowMs });
      mintedAt = nowMs;
    }
    return token;
  };
}

export interface TokenOptions {
  /** PEM, PKCS 8. */
  readonly privateKey: string;
  readonly issuer: string;
  readonly nowMs: number;
}

/** A JWT (RFC 7519), signed with EdDSA (RFC 8037 §3.1), that authenticates the operator to the backend. */
export function mintOperatorToken({ privateKey, issuer, nowMs }: TokenOptions): string {
  const now = Math.floor(nowMs / 1000);
  const claims = {
    iss: issuer,
    aud: tokenAudience,
    sub: 'operator',
    [tokenKindClaim]: 'operator' satisfies TokenKind,
    iat: now,
    exp: now + operatorTokenLifetimeSeconds,
    jti: randomUUID(),
  };
  const signed = `${encode({ alg: 'EdDSA', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), createPrivateKey(privateKey)).toString('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
