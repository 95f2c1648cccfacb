import { SvcError } from '../../contracts/errors.ts';
import { findId, type KeyId, type WorkspaceId } from '../../contracts/ids.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { Graph, Node, Transaction, WithGraph } from '../graph/graph.ts';
import type { WithSecrets } from '../secrets/secrets.ts';

/** Finds a key of any workspace by its text. */
export async function findKeyBySecret(
  { graph, secrets }: WithGraph & WithSecrets,
  key: Secret,
): Promise<Node<'key'> | null> {
  for (const digest of secrets.digests(key)) {
    // The only look-up without a workspace: the key leads to it.
    const found = await graph.findBy('key', { digest }, 'everywhere');
    if (found !== null) return found;
  }
  return null;
}

/** A key of any workspace by its id, which a signed token names. */
export async function findAnyKey({ graph }: WithGraph, id: KeyId): Promise<Node<'key'> | null> {
  return await graph.find('key', id, 'everywhere');
}

/** By id, or by the name of a key that is neither revoked nor replaced. */
export async function getKey(
  graph: Pick<Graph | Transaction, 'find' | 'findBy'>,
  workspace: WorkspaceId,
  named: string,
): Promise<Node<'key'>> {
  const id = findId('key', named);
  const key =
    id === null
      ? await graph.findBy('key', { activeName: named.trim() }, workspace)
      : await graph.find('key', id, workspace);
  if (key !== null) return key;
  throw new SvcError('not_found', `This workspace has no key "${named.slice(0, 80)}".`, {
    hint: 'List them: svc keys list',
  });
}
