import { parseKey } from '../../contracts/keys.ts';
import type { Node, WithGraph } from '../graph/graph.ts';
import { requireOperator } from '../members/access.ts';
import type { WithSecrets } from '../secrets/secrets.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';
import { findKeyBySecret } from './find-key.ts';

export interface IdentifiedKey {
  readonly key: Node<'key'>;
  readonly workspace: Node<'workspace'>;
}

/** The key with this text, in any state, for an operator who holds it; null if no workspace has it. */
export async function identifyKey(
  backend: WithGraph & WithSecrets,
  principal: TokenPrincipal,
  text: string,
): Promise<IdentifiedKey | null> {
  requireOperator(principal, 'identify a key');
  const parsed = parseKey(text);
  if (!parsed.ok || (parsed.kind !== 'user' && parsed.kind !== 'legacy')) return null;
  const key = await findKeyBySecret(backend, parsed.key);
  const workspace = key === null ? null : await backend.graph.find('workspace', key.workspace, null);
  return key === null || workspace === null ? null : { key, workspace };
}
