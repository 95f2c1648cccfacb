import { findId, parseId } from '../../contracts/ids.ts';
import { pageMax } from '../graph/graph.ts';
import { stateOfKey } from '../keys/key-state.ts';
import { createRole, removeRole, updateRole } from '../roles/change-roles.ts';
import type { Builder } from './builder.ts';
import { listArgs, listOf, pageOf, searchArgs } from './paging.ts';
import { requireName } from './workspaces.ts';

export function addRoles(builder: Builder): void {
  builder.objectType('Role', {
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      description: t.exposeString('description'),
      enabled: t.exposeBoolean('enabled'),
      version: t.exposeInt('version'),
      skills: t.field({
        type: ['Skill'],
        args: listArgs(builder),
        resolve: (role, args, { load }) => load.skillsOfRole(role, listOf(args.first)),
      }),
      keys: t.field({
        type: ['Key'],
        description: 'The valid keys that are limited to roles, this one among them. Owner and admin only.',
        args: listArgs(builder),
        resolve: async (role, args, { load, access }) => {
          await access(role.workspace, 'administer');
          const keys = await load.keysOfRole(role, pageMax);
          return keys.filter((key) => stateOfKey(key, Date.now()) === 'valid').slice(0, listOf(args.first));
        },
      }),
    }),
  });

  builder.objectType('RolePage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Role'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectFields('Workspace', (t) => ({
    roles: t.field({
      type: 'RolePage',
      args: searchArgs(builder),
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'read');
        return await backend.graph.select({ type: 'role', anchor: workspace.id, orderBy: 'name', ...pageOf(args) });
      },
    }),
    role: t.field({
      type: 'Role',
      nullable: true,
      args: { id: t.arg.id(), name: t.arg.string() },
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'read');
        if (args.id == null) return await backend.graph.findBy('role', { name: requireName(args) }, workspace.id);
        const id = findId('role', args.id);
        return id === null ? null : await backend.graph.find('role', id, workspace.id);
      },
    }),
  }));

  addMutations(builder);
}

function addMutations(builder: Builder): void {
  const input = builder.inputType('RoleInput', {
    fields: (t) => ({
      name: t.string({ required: true }),
      description: t.string({ defaultValue: '' }),
      enabled: t.boolean({ defaultValue: true }),
      skills: t.idList({ defaultValue: [] }),
    }),
  });
  const patch = builder.inputType('RolePatch', {
    fields: (t) => ({
      name: t.string(),
      description: t.string(),
      enabled: t.boolean(),
      skills: t.idList(),
      ifVersion: t.int(),
    }),
  });
  builder.mutationFields((t) => ({
    createRole: t.field({
      type: 'Role',
      args: { workspace: t.arg.id({ required: true }), input: t.arg({ type: input, required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        createRole(backend, principal, parseId('workspace', args.workspace), args.input),
    }),
    updateRole: t.field({
      type: 'Role',
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        input: t.arg({ type: patch, required: true }),
      },
      resolve: (_root, args, { backend, principal }) =>
        updateRole(backend, principal, parseId('workspace', args.workspace), args.id, args.input),
    }),
    removeRole: t.boolean({
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        ifVersion: t.arg.int(),
        ifUsedBy: t.arg.idList({ description: 'Valid keys that may lose it; absent: any.' }),
      },
      resolve: async (_root, { workspace, ...removal }, { backend, principal }) => {
        await removeRole(backend, principal, parseId('workspace', workspace), removal);
        return true;
      },
    }),
  }));
}
