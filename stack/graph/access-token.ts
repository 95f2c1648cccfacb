import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Long enough for the requests of one start. */
const lifetimeS = 300;

export interface Shown {
  readonly user: string;
  readonly groups: readonly string[];
}

/**
 * An access token as Dgraph signs it after a login (JWT, RFC 7519, HS256). The key is a secret of the installation, so the platform can
 * administer users without a password.
 */
export function accessToken(aclKeyFile: string, { user, groups }: Shown): string {
  const exp = Math.floor(Date.now() / 1000) + lifetimeS;
  const signed = [
    { alg: 'HS256', typ: 'JWT' },
    { userid: user, groups, namespace: 0, exp },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  // Dgraph uses the whole file as its key, the line end included.
  const signature = createHmac('sha256', readFileSync(aclKeyFile)).update(signed).digest('base64url');
  return `${signed}.${signature}`;
}
