import type { Identity } from '../../contracts/bus/permissions.ts';
import type { RuntimeId } from '../../contracts/ids.ts';
import type { MeantConnections } from './bus.ts';

export function isMeant(identity: Identity, runtime: RuntimeId, { key }: MeantConnections): boolean {
  if (identity.kind !== 'runtime' || identity.runtime !== runtime) return false;
  return key === undefined || identity.key === key;
}
