import { findId, memberOfKey, operatorKeyOf } from '../../contracts/ids.ts';
import type { Anchor, Graph, Node } from '../graph/graph.ts';
import { idKindOf } from '../graph/schema.ts';
import type { Builder } from './builder.ts';
import { pageArgs, pageOf } from './paging.ts';

export function addUsage(builder: Builder): void {
  builder.objectType('UsageRow', {
    fields: (t) => ({
      hour: t.exposeFloat('hour'),
      key: t.string({
        resolve: (row, _args, { backend }) =>
          row.key === operatorKeyOf(row.workspace) ? 'operator' : nameOfKey(backend.graph, row),
      }),
      keyId: t.exposeID('key', { description: 'Two keys have the same name while one replaces the other.' }),
      tool: t.string({
        resolve: (row, _args, { backend }) =>
          nameOf(backend.graph, { kind: 'tool', id: row.tool, anchor: row.workspace }),
      }),
      skill: t.string({
        nullable: true,
        resolve: (row, _args, { backend }) =>
          row.skill === null ? null : nameOf(backend.graph, { kind: 'skill', id: row.skill, anchor: row.workspace }),
      }),
      mcpServer: t.string({
        resolve: (row, _args, { backend }) =>
          nameOf(backend.graph, { kind: 'mcpServer', id: row.mcpServer, anchor: row.workspace }),
      }),
      calls: t.exposeInt('calls'),
      errors: t.exposeInt('errors'),
      durationMs: t.exposeInt('durationMs'),
    }),
  });

  builder.objectType('UsagePage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['UsageRow'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectField('Workspace', 'usage', (t) =>
    t.field({
      type: 'UsagePage',
      args: { ...builder.args((t) => ({ from: t.float(), to: t.float() })), ...pageArgs(builder) },
      resolve: async ({ id: anchor }, args, { backend, access }) => {
        await access(anchor, 'read');
        return await backend.graph.select({
          type: 'usage',
          anchor,
          where: hoursBetween(args),
          orderBy: 'hour',
          descending: true,
          ...pageOf(args),
        });
      },
    }),
  );
}

function hoursBetween({ from, to }: { from?: number | null | undefined; to?: number | null | undefined }) {
  if (from == null && to == null) return [];
  return [{ field: 'hour' as const, ...(from == null ? {} : { from }), ...(to == null ? {} : { below: to }) }];
}

interface Used<Kind extends 'key' | 'tool' | 'skill' | 'mcpServer'> {
  readonly kind: Kind;
  readonly id: string;
  readonly anchor: Anchor<Kind>;
}

/** A member who tried tools has no key, and is named by the email address. */
async function nameOfKey(graph: Graph, { key: text, workspace: anchor }: Node<'usage'>): Promise<string> {
  const name = await nameOf(graph, { kind: 'key', id: text, anchor });
  const key = findId('key', text);
  if (name !== text || key === null) return name;
  const member = await graph.find('member', memberOfKey(key), anchor);
  const user = member === null ? null : findId('user', member.user);
  const person = user === null ? null : await graph.find('user', user, null);
  return person?.email ?? name;
}

/** If a used object was removed since, only its id is left. */
async function nameOf<Kind extends 'key' | 'tool' | 'skill' | 'mcpServer'>(
  graph: Graph,
  { kind, id: text, anchor }: Used<Kind>,
): Promise<string> {
  const id = findId(idKindOf[kind], text);
  const node = id === null ? null : await graph.find<Kind>(kind, id, anchor);
  return node?.name ?? text;
}
