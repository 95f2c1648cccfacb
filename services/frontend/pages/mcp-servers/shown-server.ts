import type { McpServerQuery } from '../../graphql/generated/operations.ts';

/** An MCP server as its panel shows it. */
export type ShownServer = NonNullable<NonNullable<McpServerQuery['workspace']>['mcpServer']>;
