import { z } from 'zod';
import type { Node } from '../graph/graph.ts';
import type { Builder, GraphqlContext } from './builder.ts';
import { pageOf, searchArgs } from './paging.ts';

export function addTools(builder: Builder): void {
  builder.objectType('Tool', {
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name', {
        nullable: true,
        description: 'Its name for agents; null until the MCP server has listed it.',
      }),
      originalName: t.exposeString('originalName'),
      description: t.string({ nullable: true, resolve: descriptionOf }),
      definition: t.exposeString('definition', {
        nullable: true,
        description: 'JSON text of the tool as the MCP server described it.',
      }),
      listed: t.exposeBoolean('listed'),
      mcpServer: t.field({ type: 'McpServer', resolve: (tool, _args, context) => serverOf(context, tool) }),
    }),
  });

  builder.objectType('ToolPage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Tool'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectField('Workspace', 'tools', (t) =>
    t.field({
      type: 'ToolPage',
      args: searchArgs(builder),
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'read');
        return await backend.graph.select({ type: 'tool', anchor: workspace.id, ...pageOf(args) });
      },
    }),
  );
}

const described = z.object({ description: z.string() });

/** An MCP server need not describe its tools. */
function descriptionOf({ definition }: Node<'tool'>): string | null {
  if (definition === null) return null;
  const parsed = described.safeParse(JSON.parse(definition));
  return parsed.success ? parsed.data.description : null;
}

async function serverOf({ load }: GraphqlContext, tool: Node<'tool'>): Promise<Node<'mcpServer'>> {
  const server = await load.serverOfTool(tool);
  if (server === null) throw new Error(`tool ${tool.id} has no MCP server`);
  return server;
}
