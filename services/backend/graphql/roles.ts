import { findId, parseId } from '../../contracts/ids.ts';
import { toolRuleEffects } from '../../contracts/tool-rules.ts';
import { rulesOfRoleMax } from '../../contracts/workspace-limits.ts';
import { pageMax } from '../graph/graph.ts';
import { stateOfKey } from '../keys/key-state.ts';
import { createRole, removeRole, updateRole } from '../roles/change-roles.ts';
import { parseEffect } from '../roles/tool-rules.ts';
import type { Builder } from './builder.ts';
import { listArgs, listOf, pageOf, searchArgs } from './paging.ts';
import { requireName } from './workspaces.ts';

export function addRoles(builder: Builder): void {
  const effectType = addEffect(builder);
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
      readOnly: t.boolean({
        description: 'Whether it lets only tools pass that their MCP servers describe as read-only (readOnlyHint).',
        resolve: (role) => role.toolLimit !== null,
      }),
      rules: t.field({
        type: ['ToolRule'],
        description: 'Deny wins over allow. Without a rule that allows, every tool of its skills is allowed.',
        args: listArgs(builder, rulesOfRoleMax),
        resolve: (role, args, { load }) => load.rulesOfRole(role, listOf(args.first, rulesOfRoleMax)),
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

  builder.objectType('ToolRule', {
    description: 'What a role says about tools of one MCP server.',
    fields: (t) => ({
      effect: t.field({ type: effectType, resolve: ({ effect }) => parseEffect(effect) }),
      mcpServer: t.field({
        type: 'McpServer',
        resolve: async (rule, _args, { load }) => {
          const server = await load.serverOfRule(rule);
          if (server === null) throw new Error(`rule ${rule.id} has no MCP server`);
          return server;
        },
      }),
      tool: t.exposeString('pattern', { description: "The MCP server's name of a tool. * stands for any characters." }),
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

  addMutations(builder, effectType);
}

function addEffect(builder: Builder) {
  return builder.enumType('ToolRuleEffect', { values: toolRuleEffects });
}

function addMutations(builder: Builder, effectType: ReturnType<typeof addEffect>): void {
  const ruleInput = builder.inputType('ToolRuleInput', {
    description: "Tools by their MCP server's name and their own, which may hold * for any characters.",
    fields: (t) => ({
      effect: t.field({ type: effectType, required: true }),
      mcpServer: t.string({ required: true }),
      tool: t.string({ required: true }),
    }),
  });
  const input = builder.inputType('RoleInput', {
    fields: (t) => ({
      name: t.string({ required: true }),
      description: t.string({ defaultValue: '' }),
      enabled: t.boolean({ defaultValue: true }),
      skills: t.idList({ defaultValue: [] }),
      readOnly: t.boolean({ defaultValue: false }),
      rules: t.field({ type: [ruleInput], defaultValue: [] }),
    }),
  });
  const patch = builder.inputType('RolePatch', {
    fields: (t) => ({
      name: t.string(),
      description: t.string(),
      enabled: t.boolean(),
      skills: t.idList(),
      readOnly: t.boolean(),
      rules: t.field({ type: [ruleInput] }),
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
