import { SvcError } from '../../contracts/errors.ts';
import { parseId, type UserId } from '../../contracts/ids.ts';
import { parsePasskeyName } from '../../contracts/names.ts';
import { type Graph, type Node, pageMax, type WithGraph } from '../graph/graph.ts';
import type { TokenPrincipal, UserPrincipal } from '../tokens/verify-token.ts';
import { requireFreshProof, requirePerson } from './own-account.ts';

export const passkeysPerUserMax = 20;

export async function passkeysOf(graph: Pick<Graph, 'select'>, user: UserId): Promise<readonly Node<'passkey'>[]> {
  const where = [{ field: 'user', equals: user }] as const;
  const { nodes } = await graph.select({ type: 'passkey', anchor: null, where, limit: pageMax });
  return nodes;
}

/** A passkey of the caller, named by its id. */
export interface NamedPasskey {
  readonly id: string;
}

export async function renamePasskey(
  { graph }: WithGraph,
  principal: TokenPrincipal,
  { id, name }: NamedPasskey & { readonly name: string },
): Promise<Node<'passkey'>> {
  const person = requirePerson(principal);
  const given = parsePasskeyName(name);
  return await graph.write(async (transaction) => {
    const passkey = await getOwnPasskey(transaction, person, id);
    return await transaction.update('passkey', passkey.id, { name: given }, { anchor: null });
  });
}

export async function removePasskey(
  { graph }: WithGraph,
  principal: TokenPrincipal,
  { id }: NamedPasskey,
): Promise<void> {
  const person = requirePerson(principal);
  await graph.write(async (transaction) => {
    await requireFreshProof(transaction, person);
    const passkey = await getOwnPasskey(transaction, person, id);
    await transaction.remove('passkey', passkey.id, null);
  });
}

/** Another person's passkey does not exist for the caller. */
async function getOwnPasskey(
  graph: Pick<Graph, 'find'>,
  { user }: UserPrincipal,
  id: string,
): Promise<Node<'passkey'>> {
  const passkey = await graph.find('passkey', parseId('passkey', id), null);
  if (passkey?.user === user) return passkey;
  throw new SvcError('not_found', `You have no passkey "${id}".`);
}
