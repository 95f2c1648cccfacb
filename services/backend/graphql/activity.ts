import type { Builder } from './builder.ts';
import { changesFor, filterActivity, subjectFor } from './filter-activity.ts';
import { pageOf, searchArgs } from './paging.ts';

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
        resolve: async (entry, _args, { access }) => subjectFor((await access(entry.workspace, 'read')).role, entry),
      }),
      changes: t.string({
        description: 'JSON text of what changed, secrets left out.',
        resolve: async (entry, _args, { access }) => changesFor((await access(entry.workspace, 'read')).role, entry),
      }),
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
      description:
        'The changes and their authors, the latest first. A search finds words of author, action, kind and name. With it, a page may hold fewer than "first" before the last one.',
      args: searchArgs(builder),
      resolve: async ({ id: anchor }, args, { backend, access }) => {
        const { role } = await access(anchor, 'read');
        return await filterActivity(backend.graph, { workspace: anchor, role, page: pageOf(args) });
      },
    }),
  );
}
