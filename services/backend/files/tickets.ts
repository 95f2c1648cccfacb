import { z } from 'zod';
import { parseDigest } from '../../contracts/digest.ts';
import { SvcError } from '../../contracts/errors.ts';
import { id } from '../../contracts/id-schema.ts';
import { parseId } from '../../contracts/ids.ts';
import type { WithConfig } from '../bus/with-bus.ts';
import type { Node } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import { readSignedText, signText } from '../secrets/signed-text.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

/** How long an issued address may be used. */
const validMs = 5 * 60_000;

const principal = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('operator'), name: z.string() }),
  z.object({ kind: z.literal('user'), user: id('user'), session: id('browserSession') }),
]);

const ticket = z.object({
  does: z.enum(['upload', 'download']),
  principal,
  workspace: id('workspace'),
  skill: id('skill'),
  path: z.string(),
  digest: z.string().transform(parseDigest),
  sizeBytes: z.number().int().nonnegative(),
  /** For an upload, the digest of the file that it may replace, empty for none; null: any. */
  replaced: z.string().nullable(),
  expiresAt: z.number(),
});

/** Names the operation, the file, the person and the expiry. The right itself is checked again when it is used. */
export type Ticket = z.infer<typeof ticket>;

export interface SignedUrl {
  readonly url: string;
  readonly expiresAt: number;
}

export const filesPath = '/files';

/** The address of a file, for clients without a token: a browser that downloads, a program that uploads. */
export function signUrl(backend: WithSecrets & WithConfig, what: Omit<Ticket, 'expiresAt'>): SignedUrl {
  const expiresAt = Date.now() + validMs;
  const text = Buffer.from(JSON.stringify({ ...what, expiresAt })).toString('base64url');
  const query = new URLSearchParams({ ticket: signText(backend, 'file ticket', text) });
  const base = backend.config.PUBLIC_BACKEND_URL.replace(/\/$/, '');
  return { url: `${base}${filesPath}/${what.digest}?${query}`, expiresAt };
}

export function downloadUrl(
  backend: WithSecrets & WithConfig,
  who: TokenPrincipal,
  { workspace, skill, path, digest, sizeBytes }: Node<'file'>,
): string {
  const file = { workspace, skill: parseId('skill', skill), path, digest: parseDigest(digest), sizeBytes };
  return signUrl(backend, { does: 'download', principal: who, ...file, replaced: null }).url;
}

/** Throws `forbidden` for every fault, because an honest holder needs no details. */
export function readTicket(backend: WithSecrets, text: string, does: Ticket['does']): Ticket {
  const claims = readSignedText(backend, 'file ticket', text);
  if (claims === null) throw refused('it was not issued by this platform');
  const read = ticket.parse(JSON.parse(Buffer.from(claims, 'base64url').toString()));
  if (read.does !== does) throw refused(`it is for the ${read.does} of a file`);
  if (read.expiresAt <= Date.now()) throw refused('it has expired');
  return read;
}

function refused(why: string): SvcError {
  return new SvcError('forbidden', `The address of the file is refused: ${why}.`, {
    hint: 'Request a new one: each is valid for five minutes.',
  });
}
