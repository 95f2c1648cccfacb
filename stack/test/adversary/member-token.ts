import { readFileSync } from 'node:fs';
import { importPKCS8, SignJWT } from 'jose';
import { tokenAudience, tokenKindClaim } from '../../../services/contracts/token.ts';
import { type BackendClient, openBackendClient } from '../../client/backend-client.ts';
import { secretFilesOf } from '../../secrets/secrets.ts';
import type { Platform } from '../platform.ts';

/** A person's token, as the backend would issue it to a browser. */
export async function memberToken({ installation }: Pick<Platform, 'installation'>, user: string): Promise<string> {
  const { jwtPrivateKey } = secretFilesOf(installation);
  const key = await importPKCS8(readFileSync(jwtPrivateKey, 'utf8'), 'EdDSA');
  return new SignJWT({ iss: 'service-platform', aud: tokenAudience, sub: user, [tokenKindClaim]: 'session' })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setExpirationTime('1h')
    .sign(key);
}

/** A GraphQL client with that person's token. */
export async function memberClient(platform: Platform, user: string): Promise<BackendClient> {
  const token = await memberToken(platform, user);
  return openBackendClient([`http://127.0.0.1:${platform.ports.backend}`], () => token);
}
