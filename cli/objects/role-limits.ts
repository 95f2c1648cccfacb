import { isReadOnlyTool, type RoleLimits, type RuledTool } from '../../services/contracts/tool-rules.ts';
import type { Role } from './roles.ts';

/** What limits the tools of a role. MCP servers stand by their names, here and in `ruledTool`. */
export function limitsOf({ readOnly, rules }: Pick<Role, 'readOnly' | 'rules'>): RoleLimits {
  return {
    readOnly,
    rules: rules.map(({ effect, mcpServer, tool }) => ({ effect, mcpServer: mcpServer.name, pattern: tool })),
  };
}

interface DescribedTool {
  readonly originalName: string;
  readonly mcpServer: { readonly name: string };
  /** JSON text; null until the MCP server has listed the tool. */
  readonly definition: string | null;
}

export function ruledTool({ originalName, mcpServer, definition }: DescribedTool): RuledTool {
  const isReadOnly = definition !== null && isReadOnlyTool(JSON.parse(definition));
  return { mcpServer: mcpServer.name, originalName, isReadOnly };
}
