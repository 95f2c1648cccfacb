import { z } from 'zod';
import { SvcError } from '../../contracts/errors.ts';

const redirectsMax = 20;
const urlLengthMax = 1000;
const url = z.string().max(urlLengthMax);

/** The fields of a client (RFC 7591 §2) that mean something here. Clients send others, which are left out. */
const shape = z.object({
  client_id: url.optional(),
  client_name: z.string().max(200).optional(),
  redirect_uris: z.array(url).min(1).max(redirectsMax),
});

/**
 * Metadata of a client as the authorization server knows it. Every client is a public one that uses PKCE. `native` allows
 * loopback redirects with any port (RFC 8252 §7.3) also to clients that name no type, or the wrong one.
 */
export function clientMetadata(document: unknown, { keepsId }: { readonly keepsId: boolean }): object {
  const parsed = shape.safeParse(document);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.') ?? '';
    throw new SvcError('invalid_input', `The client's metadata is refused: the field "${field}" is missing or wrong.`);
  }
  const { client_id: id, ...rest } = parsed.data;
  return {
    ...(keepsId ? { client_id: id } : {}),
    ...rest,
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}
