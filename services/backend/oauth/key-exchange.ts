import { SignJWT } from 'jose';
import { randomText } from '../../contracts/ids.ts';
import { agentTokenType, keyClaim } from '../../contracts/token.ts';
import { checkUserKey } from '../keys/check-key.ts';
import { scopeOf } from './canonical-request.ts';
import type { OauthNeeds } from './oauth-needs.ts';

export const keyExchange = 'client_credentials';

export interface ExchangeRequest {
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/**
 * RFC 6749 §4.4, for programs that speak OAuth and cannot send a key: the key's id is the client, and its text the
 * secret. The token stands for the key, so it ends with the key, and there is no refresh token (§4.4.3).
 */
export async function exchangeKey(backend: OauthNeeds, { form, authorization }: ExchangeRequest) {
  const { config, signingKeys } = backend;
  if (authorization !== undefined && form.has('client_secret')) {
    return refuse('invalid_request', 'The client authenticates in two ways.');
  }
  const given = authorization === undefined ? inForm(form) : inHeader(authorization);
  const now = Date.now();
  const reply = given === null ? null : await checkUserKey(backend, given.secret, now);
  if (given === null || !reply?.ok || reply.principal.key !== given.id) {
    return refuse('invalid_client', 'The client is no id of a key, or the secret is not the text of that key.');
  }
  if (form.getAll('resource').some((resource) => resource !== config.PUBLIC_MCP_URL)) {
    return refuse('invalid_target', `Tokens are for ${config.PUBLIC_MCP_URL} only.`);
  }
  const { key, user, expiresAt } = reply.principal;
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

interface Credentials {
  readonly id: string;
  readonly secret: string;
}

function inForm(form: URLSearchParams): Credentials | null {
  const [id, secret] = [form.get('client_id'), form.get('client_secret')];
  return id === null || secret === null ? null : { id, secret };
}

/** RFC 6749 §2.3.1: both halves are written as in a form. */
function inHeader(authorization: string): Credentials | null {
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization) ?? [];
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined) return null;
  const read = (text: string) => new URLSearchParams(`x=${text.replaceAll('&', '%26')}`).get('x') ?? '';
  return { id: read(id), secret: read(secret) };
}

/** RFC 6749 §5.2. */
function refuse(error: 'invalid_request' | 'invalid_client' | 'invalid_target', description: string): ExchangeAnswer {
  const body = { error, error_description: description };
  return error === 'invalid_client' ? answer(401, body, { 'www-authenticate': 'Basic' }) : answer(400, body);
}

function answer(status: number, body: object, headers: Readonly<Record<string, string>> = {}): ExchangeAnswer {
  return { status, headers: { ...headers, 'cache-control': 'no-store' }, body };
}
