import { usePlace } from '../app/workspace.ts';
import { type OwnKeysQuery, ownKeysQuery } from '../graphql/generated/operations.ts';
import { useOperation } from '../graphql/use-operation.ts';

export type OwnKey = NonNullable<OwnKeysQuery['workspace']>['ownKeys'][number];

/** The person's keys and connected agents in this workspace: an agent is a key of a client. */
export function useOwnKeys() {
  const { workspace } = usePlace();
  const { data, error, retry } = useOperation(ownKeysQuery, { workspace: workspace.id });
  return { keys: data?.workspace?.ownKeys ?? null, error, retry };
}
