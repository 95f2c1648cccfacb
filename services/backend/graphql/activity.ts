import type { IdKind } from '../../contracts/ids.ts';
import { allows } from '../members/access.ts';
import type { Builder } from './builder.ts';
import { pageArgs, pageOf } from './paging.ts';

const namedByAddress: ReadonlySet<string> = new Set<IdKind>(['invitation', 'member']);

export function addActivity(builder: Builder): void {
  builder.objectType('Activity', {
    fields: (t) => ({
      id: t.exposeID('id'),
      at: t.exposeFloat('at'),
      actor: t.exposeString('actor'),
      actorName: t.exposeString('actorName'),
      action: t.exposeString('action'),
      subject: t.exposeString('subject'),
      subjectKind: t.exposeString('subjectKind'),
      subjectName: t.string({
        description: 'For an invitation or a member an e-mail address, which owner and admin alone see.',
        resolve: async ({ workspace, subjectKind, subjectName }, _args, { access }) => {
          if (!namedByAddress.has(subjectKind)) return subjectName;
          const { role } = await access(workspace, 'read');
          return allows(role, 'administer') ? subjectName : 'a person';
        },
      }),
      changes: t.exposeString('changes', { description: 'JSON text of what changed, secrets left out.' }),
    }),
  });

  builder.objectType('ActivityPage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Activity'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectField('Workspace', 'activity', (t) =>
    t.field({
      type: 'ActivityPage',
      description: 'The changes and their authors, the latest first.',
      args: pageArgs(builder),
      resolve: async ({ id: anchor }, args, { backend, access }) => {
        await access(anchor, 'read');
        return await backend.graph.select({
          type: 'activity',
          anchor,
          orderBy: 'at',
          descending: true,
          ...pageOf(args),
        });
      },
    }),
  );
}
