import { z } from 'zod';
import { accessTokenLengthMax } from '../../contracts/bus/messages.ts';
import { id } from '../../contracts/id-schema.ts';
import { Secret } from '../../contracts/secret.ts';
import type { Node } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { provider } from './provider-metadata.ts';

/** The encrypted fields of an integration. */

export const client = z.object({
  kind: z.enum(['own', 'dynamic', 'document']),
  id: z.string().min(1).max(2048),
  secret: z.string().max(2048).nullable(),
  /** The authorization server that knows it. Null: an own client whose first connection has not begun. */
  issuer: z.string().nullable(),
  /** The redirect URI that it was registered with. */
  redirectUri: z.string().nullable(),
});
export type Client = z.infer<typeof client>;

/** Connects tokens to the place they are for: they are never sent elsewhere. */
const parties = z.object({
  /** The URL of the MCP server. */
  url: z.string(),
  /** RFC 8707. */
  resource: z.string(),
  provider,
  client,
});

export const pending = parties.extend({
  state: z.string(),
  verifier: z.string(),
  user: id('user'),
  session: id('browserSession'),
  scopes: z.array(z.string()),
  expiresAt: z.number(),
});
export type Pending = z.infer<typeof pending>;

/** Visible ASCII, so that it is a valid header (RFC 6750 §2.1). */
const token = z.string().regex(/^[\x21-\x7e]+$/);

export const tokens = parties.extend({
  accessToken: token.max(accessTokenLengthMax),
  refreshToken: token.max(accessTokenLengthMax).nullable(),
});
export type Tokens = z.infer<typeof tokens>;

const shapes = { client, pending, tokens };
type Field = keyof typeof shapes;
type Kept = { readonly client: Client; readonly pending: Pending; readonly tokens: Tokens };

export function keep<Name extends Field>(
  { secrets }: WithSecrets,
  integration: Pick<Node<'integration'>, 'id'>,
  field: Name,
  value: Kept[Name],
): string {
  return secrets.encrypt(new Secret(JSON.stringify(value)), { node: integration.id, field });
}

export function read<Name extends Field>(
  { secrets }: WithSecrets,
  integration: Pick<Node<'integration'>, 'id' | Name>,
  field: Name,
): Kept[Name] | null;
export function read({ secrets }: WithSecrets, integration: Pick<Node<'integration'>, 'id' | Field>, field: Field) {
  const text = integration[field];
  if (text === null) return null;
  return shapes[field].parse(JSON.parse(secrets.decrypt(text, { node: integration.id, field }).reveal()));
}
