import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Enough for what one start asks. */
const lifetimeS = 300;

export interface Shown {
  readonly user: string;
  readonly groups: readonly string[];
}

/**
 * What Dgraph itself would sign for somebody who has logged in (RFC 7519, HS256): its key is a secret of the installation, so that nobody's
 * password has to be known to become who may set it.
 */
export function accessToken(aclKeyFile: string, { user, groups }: Shown): string {
  const exp = Math.floor(Date.now() / 1000) + lifetimeS;
  const signed = [
    { alg: 'HS256', typ: 'JWT' },
    { userid: user, groups, namespace: 0, exp },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  // As Dgraph reads it: the end of its line is a part of the key.
  const signature = createHmac('sha256', readFileSync(aclKeyFile)).update(signed).digest('base64url');
  return `${signed}.${signature}`;
}
