import { z } from 'zod';
import { findId, parseId } from '../../contracts/ids.ts';
import { isReadOnlyTool } from '../../contracts/tool-rules.ts';
import type { Node } from '../graph/graph.ts';
import { createToolToken } from '../tools/create-tool-token.ts';
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
      readOnly: t.boolean({
        description: 'Whether its MCP server describes it as read-only (readOnlyHint).',
        resolve: ({ definition }) => definition !== null && isReadOnlyTool(JSON.parse(definition)),
      }),
      mcpServer: t.field({ type: 'McpServer', resolve: (tool, _args, context) => serverOf(context, tool) }),
    }),
  });

  builder.objectType('ToolPage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Tool'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectType('ToolToken', {
    fields: (t) => ({
      token: t.string({ resolve: ({ token }) => token.reveal() }),
      expiresAt: t.exposeFloat('expiresAt'),
    }),
  });

  builder.mutationField('createToolToken', (t) =>
    t.field({
      type: 'ToolToken',
      description: 'A token with which the caller tries the tools of this workspace at the address of agents.',
      args: { workspace: t.arg.id({ required: true }) },
      resolve: (_root, { workspace }, { backend, principal }) =>
        createToolToken(backend, { principal, workspace: parseId('workspace', workspace) }),
    }),
  );

  builder.objectField('Workspace', 'tool', (t) =>
    t.field({
      type: 'Tool',
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'read');
        const id = findId('tool', args.id);
        return id === null ? null : await backend.graph.find('tool', id, workspace.id);
      },
    }),
  );

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
