import { z } from 'zod';
import { isWebAddress } from '../http/guarded-fetch.ts';

const addressMax = 2048;
/** People read addresses: without letters that are hidden or change the direction (RFC 3986 §2). */
const address = z
  .string()
  .max(addressMax)
  .regex(/^[\x21-\x7e]+$/);

/** An address that a stranger names, for a browser or a request. */
export const webAddress = address.refine((text) => {
  const url = URL.parse(text);
  return url !== null && isWebAddress(url) && url.username === '' && url.password === '';
});

const words = z.array(z.string().max(255)).max(200);

/** The known fields of the metadata of an authorization server (RFC 8414 §2). */
export const provider = z.object({
  issuer: webAddress,
  authorization_endpoint: webAddress,
  token_endpoint: webAddress,
  registration_endpoint: webAddress.optional(),
  revocation_endpoint: webAddress.optional(),
  token_endpoint_auth_methods_supported: words.optional(),
  code_challenge_methods_supported: words,
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
});
export type Provider = z.infer<typeof provider>;

/** A scope (RFC 6749 §3.3). */
export const scope = z
  .string()
  .max(255)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
export const scopesMax = 100;
export const scopeList = z.array(scope).max(scopesMax);

/** The known fields of the metadata of a protected resource (RFC 9728 §2). */
export const resource = z.object({
  resource: address,
  authorization_servers: z.array(webAddress).min(1).max(20),
  scopes_supported: scopeList.optional().catch(undefined),
});
export type Resource = z.infer<typeof resource>;
