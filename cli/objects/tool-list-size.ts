import { constantDefinitions } from '../../services/contracts/constant-definitions.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { KeyDisclosure } from '../../services/contracts/key-disclosure.ts';
import { refusalOf } from '../../services/contracts/tool-rules.ts';
import type { BackendClient } from '../../stack/client/backend-client.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import { type ToolsOfWorkspaceQuery, toolsOfWorkspaceQuery } from '../../stack/client/generated/operations.ts';
import { limitsOf, ruledTool } from './role-limits.ts';
import type { Role } from './roles.ts';
import { fetchSkills } from './skills.ts';

export type WorkspaceTool = NonNullable<ToolsOfWorkspaceQuery['workspace']>['tools']['nodes'][number];

export function fetchWorkspaceTools(backend: BackendClient, workspace: string): Promise<WorkspaceTool[]> {
  return everyPage(
    async (page) => (await backend.send(toolsOfWorkspaceQuery, { workspace, ...page })).workspace?.tools,
  );
}

/** The first list of tools that an agent gets. */
export interface ToolListSize {
  readonly tools: number;
  /** An estimate: four characters a token. */
  readonly tokens: number;
}

export type ToolListSizes = Readonly<Record<KeyDisclosure, ToolListSize>>;

const charactersPerToken = 4;

/** The size of the list for each disclosure, with the tools that are known now. Null if they could not be counted. */
export async function toolListSizes(
  backend: BackendClient,
  workspace: string,
  roles: readonly Role[],
): Promise<ToolListSizes | null> {
  try {
    const [skills, tools] = await Promise.all([
      fetchSkills(backend, workspace),
      fetchWorkspaceTools(backend, workspace),
    ]);
    const toolById = new Map(tools.map((tool) => [tool.id, tool]));
    const toolsOf = new Map(skills.map((skill) => [skill.id, skill.tools]));
    const wanted = new Set(
      roles
        .filter(({ enabled }) => enabled)
        .flatMap((role) => {
          const limits = limitsOf(role);
          const passes = (id: string) => {
            const tool = toolById.get(id);
            return tool !== undefined && refusalOf(limits, ruledTool(tool)) === null;
          };
          return role.skills.flatMap((skill) => (toolsOf.get(skill.id) ?? []).map(({ id }) => id).filter(passes));
        }),
    );
    const definitions = tools.flatMap(({ id, definition }) =>
      wanted.has(id) && definition !== null ? [definition] : [],
    );
    return { skills: sizeOf(constantDefinitions), all: sizeOf([...constantDefinitions, ...definitions]) };
  } catch (error) {
    // The key matters more than the estimate.
    if (error instanceof SvcError) return null;
    throw error;
  }
}

function sizeOf(definitions: readonly string[]): ToolListSize {
  const characters = definitions.reduce((sum, definition) => sum + definition.length, 0);
  return { tools: definitions.length, tokens: Math.ceil(characters / charactersPerToken) };
}

/** "6 tools, about 900 tokens" */
export function describeSize({ tools, tokens }: ToolListSize): string {
  const rounded = tokens < 1000 ? Math.ceil(tokens / 10) * 10 : Math.ceil(tokens / 100) * 100;
  return `${tools} tools, about ${rounded.toLocaleString('en-US')} tokens`;
}
