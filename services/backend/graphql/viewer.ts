import { selectMemberships } from '../workspaces/find-workspaces.ts';
import type { Builder } from './builder.ts';
import { listArgs, listOf } from './paging.ts';

export function addViewer(builder: Builder): void {
  builder.objectType('Viewer', {
    fields: (t) => ({
      kind: t.exposeString('kind', { description: 'operator or user' }),
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      memberships: t.field({
        type: ['Membership'],
        args: listArgs(builder),
        resolve: async (_viewer, args, { backend, principal }) => {
          const { memberships } = await selectMemberships(backend, principal, { limit: listOf(args.first) });
          return memberships;
        },
      }),
    }),
  });

  builder.objectType('Membership', {
    fields: (t) => ({
      workspace: t.expose('workspace', { type: 'Workspace' }),
      role: t.exposeString('role', { description: 'owner, admin, editor or viewer' }),
    }),
  });

  builder.queryField('viewer', (t) =>
    t.field({
      type: 'Viewer',
      description: 'The caller.',
      resolve: async (_root, _args, { backend, principal }) => {
        if (principal.kind === 'operator') return { kind: 'operator', id: 'operator', name: principal.name };
        const user = await backend.graph.find('user', principal.user, null);
        return { kind: 'user', id: principal.user, name: user?.name ?? '' };
      },
    }),
  );
}
