import type { Principal } from '../../contracts/bus/messages.ts';
import { checkUserKey } from '../keys/check-key.ts';
import type { OauthNeeds } from './oauth-needs.ts';

/** What a program sends: a form, and perhaps its credentials in a header. */
export interface ProgramRequest {
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

export interface ProgramAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** The owner of the key that a program has, or why it is refused: the key's id is the client, and its text the secret. */
export async function authenticateProgram(
  backend: OauthNeeds,
  { form, authorization }: ProgramRequest,
  now: number,
): Promise<{ readonly principal: Principal } | { readonly refusal: ProgramAnswer }> {
  if (authorization !== undefined && form.has('client_secret')) {
    return { refusal: refuse('invalid_request', 'The client authenticates in two ways.') };
  }
  const given = authorization === undefined ? inForm(form) : inHeader(authorization);
  const reply = given === null ? null : await checkUserKey(backend, given.secret, now);
  if (given !== null && reply?.ok && reply.principal.key === given.id) return { principal: reply.principal };
  return {
    refusal: refuse('invalid_client', 'The client is no id of a key, or the secret is not the text of that key.'),
  };
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
export function refuse(
  error: 'invalid_request' | 'invalid_client' | 'invalid_target',
  description: string,
): ProgramAnswer {
  const body = { error, error_description: description };
  return error === 'invalid_client' ? answer(401, body, { 'www-authenticate': 'Basic' }) : answer(400, body);
}

export function answer(status: number, body: object, headers: Readonly<Record<string, string>> = {}): ProgramAnswer {
  return { status, headers: { ...headers, 'cache-control': 'no-store' }, body };
}
