import { usePlace } from '../../app/workspace.ts';
import { beginningQuery } from '../../graphql/generated/operations.ts';
import { useCallsCounted } from '../../graphql/use-calls-counted.ts';
import { useOperation } from '../../graphql/use-operation.ts';

/** What a workspace has of that which an agent needs before its first call. */
export interface Beginning {
  readonly hasServers: boolean;
  readonly hasSkills: boolean;
  readonly hasFilledRole: boolean;
  /** Of the person. */
  readonly hasKeys: boolean;
  readonly hasCalls: boolean;
}

export function useBeginning() {
  const { workspace } = usePlace();
  const { data, error, retry } = useOperation(beginningQuery, { workspace: workspace.id });
  const found = data?.workspace ?? null;
  const state: Beginning | null =
    found === null
      ? null
      : {
          hasServers: found.mcpServers.nodes.length > 0,
          hasSkills: found.skills.nodes.length > 0,
          hasFilledRole: found.roles.nodes.some(({ skills }) => skills.length > 0),
          hasKeys: found.ownKeys.length > 0,
          hasCalls: found.usage.nodes.length > 0,
        };
  useCallsCounted(() => state?.hasCalls === false && retry());
  return { state, error, retry };
}
