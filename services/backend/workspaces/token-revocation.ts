import type { Node } from '../graph/graph.ts';

/** What a removal asks of `integrations/`, which lies above. */
export interface WithTokenRevocation {
  /** Revokes the tokens of a removed integration at its provider, as far as the provider allows it. */
  readonly revokeTokensOf: (integration: Node<'integration'>) => Promise<void>;
}
