import type { WithGraph } from '../graph/graph.ts';
import type { TokenPrincipal } from '../tokens/verify-token.ts';

/** The caller. */
export interface Viewer {
  readonly kind: TokenPrincipal['kind'];
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
}

export async function viewerOf({ graph }: WithGraph, principal: TokenPrincipal): Promise<Viewer> {
  if (principal.kind === 'operator') return { kind: 'operator', id: 'operator', name: principal.name, email: null };
  const user = await graph.find('user', principal.user, null);
  return { kind: 'user', id: principal.user, name: user?.name ?? '', email: user?.email ?? null };
}
