import { findId, memberOfKey, operatorKeyOf } from '../../contracts/ids.ts';
import type { Anchor, Graph } from '../graph/graph.ts';
import { idKindOf } from '../graph/schema.ts';
import { type Access, allows } from '../members/access.ts';
import { largestShares, summarizeUsage, type UsageGroup, usageGroups, usageOrders } from '../usage/summarize-usage.ts';
import type { Builder } from './builder.ts';
import { listArgs, listOf, pageArgs, pageOf } from './paging.ts';

export function addUsage(builder: Builder): void {
  addRows(builder);
  addSummary(builder);
}

function addRows(builder: Builder): void {
  builder.objectType('UsageRow', {
    fields: (t) => ({
      hour: t.exposeFloat('hour'),
      key: t.string({
        resolve: async (row, _args, { backend, access }) =>
          await nameOfKey(backend.graph, await access(row.workspace, 'read'), row.key),
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

function addSummary(builder: Builder): void {
  builder.objectType('UsageSummary', {
    description: 'Calls of a stretch of time, added up.',
    fields: (t) => ({
      calls: t.int({ resolve: ({ total }) => total.calls }),
      errors: t.int({ resolve: ({ total }) => total.errors }),
      durationMs: t.float({ resolve: ({ total }) => total.durationMs }),
      isComplete: t.exposeBoolean('isComplete', {
        description: 'False: there are more records than are summed, and the earliest are left out.',
      }),
      hours: t.expose('hours', { type: ['UsageHour'], description: 'Those with calls, the earliest first.' }),
      largest: t.field({
        type: ['UsageShare'],
        description: 'Those with the largest sum. By errors: only those with errors.',
        args: {
          by: t.arg({ type: builder.enumType('UsageGroup', { values: usageGroups }), required: true }),
          order: t.arg({
            type: builder.enumType('UsageOrder', {
              description: 'averageMs: the average duration of a call.',
              values: usageOrders,
            }),
            required: true,
          }),
          ...listArgs(builder, 10),
        },
        resolve: (summary, { by, order, first }) => largestShares(summary, { by, order, first: listOf(first, 10) }),
      }),
    }),
  });

  builder.objectType('UsageHour', {
    fields: (t) => ({
      hour: t.exposeFloat('hour'),
      calls: t.exposeInt('calls'),
      errors: t.exposeInt('errors'),
      durationMs: t.exposeFloat('durationMs'),
    }),
  });

  builder.objectType('UsageShare', {
    description: 'The part of one tool, key, skill or MCP server.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: true, description: 'null: calls outside of a skill.' }),
      name: t.string({
        nullable: true,
        description: 'Its id if it was removed since. null: calls outside of a skill.',
        resolve: async (share, _args, { backend, access }) =>
          await nameOfShare(backend.graph, await access(share.workspace, 'read'), share),
      }),
      calls: t.exposeInt('calls'),
      errors: t.exposeInt('errors'),
      durationMs: t.exposeFloat('durationMs'),
    }),
  });

  builder.objectField('Workspace', 'usageSummary', (t) =>
    t.field({
      type: 'UsageSummary',
      description: 'The calls of the hours from one moment to another, at most 90 days later.',
      args: { from: t.arg.float({ required: true }), to: t.arg.float({ required: true }) },
      resolve: async ({ id }, { from, to }, { backend, access }) => {
        await access(id, 'read');
        return await summarizeUsage(backend.graph, id, { from, to });
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

interface Share {
  readonly group: UsageGroup;
  readonly id: string | null;
}

/**
 * Operators and members try tools without a key of their own. A member is named by the email address, which owner and
 * admin alone see, or by the name of the person.
 */
async function nameOfKey(graph: Graph, { workspace: { id: anchor }, role }: Access, text: string): Promise<string> {
  if (text === operatorKeyOf(anchor)) return 'operator';
  const name = await nameOf(graph, { kind: 'key', id: text, anchor });
  const key = findId('key', text);
  if (name !== text || key === null) return name;
  const member = await graph.find('member', memberOfKey(key), anchor);
  const user = member === null ? null : findId('user', member.user);
  const person = user === null ? null : await graph.find('user', user, null);
  if (person === null) return name;
  return allows(role, 'administer') ? person.email : person.name;
}

async function nameOfShare(graph: Graph, access: Access, { group, id }: Share): Promise<string | null> {
  if (id === null) return null;
  return group === 'key'
    ? await nameOfKey(graph, access, id)
    : await nameOf(graph, { kind: group, id, anchor: access.workspace.id });
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
