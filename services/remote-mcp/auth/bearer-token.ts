import { refusedKey } from './refusals.ts';

/** The key in an Authorization header (part 5 of the specification, rule 1). The scheme's case does not matter (RFC 9110, 11.1). */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') throw refusedKey('missing');
  const token = authorization.startsWith(usual)
    ? authorization.slice(usual.length).trim()
    : rarelyWritten(authorization);
  if (token === '') throw refusedKey('missing');
  return token;
}

const usual = 'Bearer ';

function rarelyWritten(authorization: string): string {
  const [scheme = '', ...rest] = authorization.trim().split(' ');
  if (scheme.toLowerCase() !== 'bearer') throw refusedKey('no_bearer');
  return rest.join(' ').trim();
}
