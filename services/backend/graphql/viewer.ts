import { findId } from '../../contracts/ids.ts';
import { sessionsOf } from '../accounts/browser-sessions.ts';
import { passkeysOf } from '../accounts/passkeys.ts';
import { hasPassword } from '../accounts/set-password.ts';
import { hasWayToSignIn } from '../accounts/sign-in-ways.ts';
import { viewerOf } from '../accounts/viewer.ts';
import { selectMemberships } from '../workspaces/find-workspaces.ts';
import type { Builder } from './builder.ts';
import { listArgs, listOf } from './paging.ts';

export function addViewer(builder: Builder): void {
  builder.objectType('Viewer', {
    fields: (t) => ({
      kind: t.exposeString('kind', { description: 'operator or user' }),
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      email: t.exposeString('email', { nullable: true, description: 'Of a user.' }),
      hasPassword: t.boolean({ resolve: ({ id }, _args, { backend }) => hasPassword(backend.graph, id) }),
      passkeys: t.field({
        type: ['Passkey'],
        args: listArgs(builder),
        resolve: async ({ id }, args, { backend }) => {
          const user = findId('user', id);
          return user === null ? [] : (await passkeysOf(backend.graph, user)).slice(0, listOf(args.first));
        },
      }),
      sessions: t.field({
        type: ['BrowserSession'],
        description: 'Newest first.',
        args: listArgs(builder),
        resolve: async ({ id }, args, { backend }) => {
          const user = findId('user', id);
          return user === null ? [] : (await sessionsOf(backend.graph, user)).slice(0, listOf(args.first));
        },
      }),
      hasWayToSignIn: t.boolean({
        description:
          'Whether there is a password, a passkey or an identity at the provider. Otherwise only a link signs the caller in.',
        resolve: ({ id }, _args, { backend }) => hasWayToSignIn(backend, id),
      }),
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
      id: t.exposeID('id', { description: 'Of the caller as a member of the workspace.' }),
      workspace: t.expose('workspace', { type: 'Workspace' }),
      role: t.exposeString('role', { description: 'owner, admin, editor or viewer' }),
    }),
  });

  builder.queryField('viewer', (t) =>
    t.field({
      type: 'Viewer',
      description: 'The caller.',
      resolve: (_root, _args, { backend, principal }) => viewerOf(backend, principal),
    }),
  );
}
