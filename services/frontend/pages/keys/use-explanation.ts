import { useMemo } from 'react';
import { type Explanation, explainKey } from '../../../contracts/explain-key.ts';
import { usePlace } from '../../app/workspace.ts';
import {
  type ExplainedSkillsQuery,
  type ExplainedToolsQuery,
  explainedSkillsQuery,
  explainedToolsQuery,
  type McpServersQuery,
  mcpServersQuery,
  type RolesQuery,
  rolesQuery,
} from '../../graphql/generated/operations.ts';
import type { ShownError } from '../../graphql/shown-error.ts';
import { useEveryRow } from '../../graphql/use-every-row.ts';
import type { OwnKey } from './own-keys.ts';

interface Explained {
  /** Null until everything is read. */
  readonly explanation: Explanation | null;
  readonly error: ShownError | null;
  readonly retry: () => void;
}

/** What an agent with a key can use, and why not the rest, as `svc keys explain` says it. It follows every change. */
export function useExplanation(key: OwnKey): Explained {
  const { workspace } = usePlace();
  const variables = { workspace: workspace.id };
  const roles = useEveryRow({
    ...{ operation: rolesQuery, variables },
    pageOf: (answer: RolesQuery) => answer.workspace?.roles ?? null,
  });
  const skills = useEveryRow({
    ...{ operation: explainedSkillsQuery, variables },
    pageOf: (answer: ExplainedSkillsQuery) => answer.workspace?.skills ?? null,
  });
  const tools = useEveryRow({
    ...{ operation: explainedToolsQuery, variables },
    pageOf: (answer: ExplainedToolsQuery) => answer.workspace?.tools ?? null,
  });
  const servers = useEveryRow({
    ...{ operation: mcpServersQuery, variables },
    pageOf: (answer: McpServersQuery) => answer.workspace?.mcpServers ?? null,
  });
  const explanation = useMemo(() => {
    if (roles.rows === null || skills.rows === null || tools.rows === null || servers.rows === null) return null;
    const nameOf = new Map(skills.rows.map(({ id, name }) => [id, name]));
    return explainKey({
      workspace,
      // A page shows no revoked key.
      key: { ...key, revokedAt: null },
      roles: roles.rows.map((role) => ({
        ...role,
        skills: role.skills.flatMap(({ id }) => {
          const name = nameOf.get(id);
          return name === undefined ? [] : [{ id, name }];
        }),
      })),
      skills: skills.rows,
      tools: tools.rows.map((tool) => ({ ...tool, isReadOnly: tool.readOnly })),
      mcpServers: servers.rows,
    });
  }, [workspace, key, roles.rows, skills.rows, tools.rows, servers.rows]);
  const lists = [roles, skills, tools, servers];
  return {
    explanation,
    error: lists.find(({ error }) => error !== null)?.error ?? null,
    retry: () => {
      for (const list of lists) if (list.error !== null) list.retry();
    },
  };
}
