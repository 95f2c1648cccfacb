import { SvcError } from '../../contracts/errors.ts';
import { parseId } from '../../contracts/ids.ts';
import { memberRoles } from '../../contracts/member-roles.ts';
import { pageMax } from '../graph/graph.ts';
import { parseMemberRole } from '../members/access.ts';
import { searchMembers } from '../members/search-members.ts';
import { addMember, removeMember, updateMember } from '../workspaces/change-members.ts';
import { invitationUrl, invite, withdrawInvitation } from '../workspaces/invitations.ts';
import type { Builder } from './builder.ts';
import { listArgs, listOf, pageArgs, pageOf, searchArgs } from './paging.ts';

export function addMembers(builder: Builder): void {
  const roleType = builder.enumType('MemberRole', {
    description: 'Each role includes the rights of those before it.',
    values: memberRoles,
  });

  builder.objectType('Member', {
    description: 'A person with a role in a workspace.',
    fields: (t) => ({
      id: t.exposeID('id'),
      role: t.field({ type: roleType, resolve: ({ role }) => parseMemberRole(role) }),
      suspended: t.exposeBoolean('suspended'),
      version: t.exposeInt('version'),
      createdAt: t.exposeFloat('createdAt'),
      person: t.field({
        type: 'Person',
        resolve: async (member, _args, { load }) => {
          const person = await load.personOfMember(member);
          if (person === null) throw new SvcError('not_found', 'The member was removed meanwhile.');
          return person;
        },
      }),
      lastSignedInAt: t.float({
        nullable: true,
        description: 'In any browser, for any workspace.',
        resolve: async (member, _args, { load }) => (await load.personOfMember(member))?.signedInAt ?? null,
      }),
      keys: t.field({
        type: ['Key'],
        description: 'Their keys that are not revoked.',
        args: listArgs(builder),
        resolve: async ({ user, workspace }, args, { load }) => {
          const keys = await load.keysOfUser({ id: user, workspace }, pageMax);
          return keys.filter(({ revokedAt }) => revokedAt === null).slice(0, listOf(args.first));
        },
      }),
    }),
  });

  builder.objectType('MemberPage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Member'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectField('Workspace', 'members', (t) =>
    t.field({
      type: 'MemberPage',
      description: 'Owner and admin only. A search finds words of name and e-mail address.',
      args: searchArgs(builder),
      resolve: async ({ id: anchor }, args, { backend: { graph }, access, load }) => {
        await access(anchor, 'administer');
        const page = pageOf(args);
        if (page.search === undefined) {
          return await graph.select({ type: 'member', anchor, orderBy: 'createdAt', ...page });
        }
        return await searchMembers({ graph, page: { ...page, anchor }, personOf: load.personOfMember });
      },
    }),
  );

  builder.objectType('Invitation', {
    description: 'A person who may become a member, by a link in a mail.',
    fields: (t) => ({
      id: t.exposeID('id'),
      email: t.exposeString('email'),
      role: t.field({ type: roleType, resolve: ({ role }) => parseMemberRole(role) }),
      expiresAt: t.exposeFloat('expiresAt'),
      createdAt: t.exposeFloat('createdAt'),
      url: t.string({
        nullable: true,
        description: 'The link, for operators; null for members: only the mail proves the address.',
        resolve: (invitation, _args, { backend, principal }) =>
          principal.kind === 'operator' ? invitationUrl(backend, invitation) : null,
      }),
    }),
  });
  builder.objectType('InvitationPage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Invitation'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });
  builder.objectField('Workspace', 'invitations', (t) =>
    t.field({
      type: 'InvitationPage',
      description: 'Those that were not accepted yet. Owner and admin only.',
      args: pageArgs(builder),
      resolve: async ({ id: anchor }, args, { backend, access }) => {
        await access(anchor, 'administer');
        return await backend.graph.select({ type: 'invitation', anchor, orderBy: 'createdAt', ...pageOf(args) });
      },
    }),
  );

  const input = builder.inputType('MemberInput', {
    fields: (t) => ({ email: t.string({ required: true }), role: t.field({ type: roleType, required: true }) }),
  });
  const patch = builder.inputType('MemberPatch', {
    fields: (t) => ({ role: t.field({ type: roleType }), suspended: t.boolean(), ifVersion: t.int() }),
  });
  builder.mutationFields((t) => ({
    addMember: t.field({
      type: 'Member',
      description: 'Makes a person a member. Operators only.',
      args: { workspace: t.arg.id({ required: true }), input: t.arg({ type: input, required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        addMember(backend, { principal, workspace: parseId('workspace', args.workspace) }, args.input),
    }),
    inviteMember: t.field({
      type: 'Invitation',
      description: 'Sends a link by mail, valid for seven days. Another one for the same address replaces it.',
      args: { workspace: t.arg.id({ required: true }), input: t.arg({ type: input, required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        invite(backend, { principal, workspace: parseId('workspace', args.workspace) }, args.input),
    }),
    withdrawInvitation: t.boolean({
      args: { workspace: t.arg.id({ required: true }), id: t.arg.id({ required: true }) },
      resolve: async (_root, { workspace, id }, { backend, principal }) => {
        await withdrawInvitation(backend, { principal, workspace: parseId('workspace', workspace) }, id);
        return true;
      },
    }),
    updateMember: t.field({
      type: 'Member',
      description:
        'Nobody changes a member of a higher role, or gives a role above their own. A workspace keeps an owner who is not suspended.',
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        input: t.arg({ type: patch, required: true }),
      },
      resolve: (_root, { workspace, id, input: given }, { backend, principal }) =>
        updateMember(backend, { principal, workspace: parseId('workspace', workspace) }, { id, patch: given }),
    }),
    removeMember: t.boolean({
      description: 'Ends a membership, or one’s own. MCP servers, skills and roles stay.',
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        ifVersion: t.arg.int(),
        ifUsedBy: t.arg.idList({ description: 'Keys that may be revoked or handed over; absent: any.' }),
        keysTo: t.arg.id({
          description:
            'The member who gets the keys; absent: they are revoked. Connected agents are disconnected in either case.',
        }),
      },
      resolve: async (_root, { workspace, ...removal }, { backend, principal }) => {
        await removeMember(backend, { principal, workspace: parseId('workspace', workspace) }, removal);
        return true;
      },
    }),
  }));
}
