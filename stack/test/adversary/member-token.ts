import { readFileSync } from 'node:fs';
import { importPKCS8, SignJWT } from 'jose';
import { tokenAudience, tokenKindClaim } from '../../../services/contracts/token.ts';
import { secretFilesOf } from '../../secrets/secrets.ts';
import type { Installation } from '../../state/installation.ts';

/** A token of a person, as the backend would issue it to a browser. */
export async function memberToken(installation: Installation, user: string): Promise<string> {
  const { jwtPrivateKey } = secretFilesOf(installation);
  const key = await importPKCS8(readFileSync(jwtPrivateKey, 'utf8'), 'EdDSA');
  return new SignJWT({ iss: 'service-platform', aud: tokenAudience, sub: user, [tokenKindClaim]: 'session' })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setExpirationTime('1h')
    .sign(key);
}
