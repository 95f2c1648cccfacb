import type { Owner } from '../../kit/budget.ts';
import type { TokenPrincipal } from './verify-token.ts';

/** The name of a caller in budgets. */
export function ownerOf(principal: TokenPrincipal): Owner<'user'> {
  return { user: principal.kind === 'user' ? principal.user : `operator ${principal.name}` };
}
