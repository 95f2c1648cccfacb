import { usePlace } from '../app/workspace.ts';
import { type OwnKeyFragment, ownKeysQuery } from '../graphql/generated/operations.ts';
import { useOperation } from '../graphql/use-operation.ts';

export type OwnKey = OwnKeyFragment;

/** The person's keys and connected agents in this workspace: an agent is a key of a client. */
export function useOwnKeys() {
  const { workspace } = usePlace();
  const { data, error, retry } = useOperation(ownKeysQuery, { workspace: workspace.id });
  return { keys: data?.workspace?.ownKeys ?? null, error, retry };
}

/** `Every role`, or the names of some. */
export function rolesInWords({ roles }: Pick<OwnKey, 'roles'>): string {
  if (roles === null || roles === undefined) return 'Every role';
  return roles.length === 0 ? 'None: its roles were removed' : roles.map(({ name }) => name).join(', ');
}

/** Ids of the keys that a newer key of the same name replaces. */
export function replacedIds(keys: readonly OwnKey[]): ReadonlySet<string> {
  return new Set(keys.flatMap(({ replaces }) => (replaces === null || replaces === undefined ? [] : [replaces.id])));
}
