import { findId, parseId } from '../../contracts/ids.ts';
import { followTools } from '../../contracts/tool-pattern.ts';
import { filesOfSkillMax, patternsOfSkillMax, rolesMax, toolsOfSkillMax } from '../../contracts/workspace-limits.ts';
import { offerUpload, removeFile } from '../files/change-files.ts';
import { downloadUrl } from '../files/tickets.ts';
import type { Node } from '../graph/graph.ts';
import { type NeededServer, whyIncomplete, whyLeftOut, whyUnavailable } from '../skills/availability.ts';
import { createSkill, removeSkill, updateSkill } from '../skills/change-skills.ts';
import { usageOfSkill } from '../usage/usage-of-skill.ts';
import type { Builder, GraphqlContext } from './builder.ts';
import { filterSkills, parseRoleFilter } from './filter-skills.ts';
import { stateOfServer } from './mcp-servers.ts';
import { listArgs, listOf, pageOf, searchArgs } from './paging.ts';
import { requireName } from './workspaces.ts';

export function addSkills(builder: Builder): void {
  builder.objectType('Skill', {
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      description: t.exposeString('description'),
      instructions: t.exposeString('instructions'),
      version: t.exposeInt('version'),
      tools: t.field({
        type: ['Tool'],
        description: 'Those named one by one, then the listed tools that match its patterns.',
        args: listArgs(builder, toolsOfSkillMax),
        resolve: async (skill, args, { load }) =>
          (await followedBy(load, skill)).tools.slice(0, listOf(args.first, toolsOfSkillMax)),
      }),
      toolCount: t.int({
        description: 'The number of its tools, named and matching.',
        resolve: async (skill, _args, { load }) => (await followedBy(load, skill)).tools.length,
      }),
      definitionsLength: t.int({
        description: 'Characters of the definitions of its tools, which an agent reads when it loads the skill.',
        resolve: async (skill, _args, { load }) =>
          (await followedBy(load, skill)).tools.reduce((sum, { definition }) => sum + (definition?.length ?? 0), 0),
      }),
      namedTools: t.field({
        type: ['Tool'],
        description: 'The tools that are named one by one.',
        args: listArgs(builder, toolsOfSkillMax),
        resolve: (skill, args, { load }) => load.toolsOfSkill(skill, listOf(args.first, toolsOfSkillMax)),
      }),
      patterns: t.field({
        type: ['ToolPattern'],
        args: listArgs(builder, patternsOfSkillMax),
        resolve: async (skill, args, { load }) =>
          (await load.patternsOfSkill(skill, patternsOfSkillMax)).slice(0, listOf(args.first, patternsOfSkillMax)),
      }),
      roles: t.field({
        type: ['Role'],
        description: 'The roles that have it.',
        args: listArgs(builder),
        resolve: (skill, args, { load }) => load.rolesOfSkill(skill, listOf(args.first)),
      }),
      mcpServers: t.field({
        type: ['McpServer'],
        args: listArgs(builder),
        resolve: async (skill, args, { load }) => (await serversOf(load, skill)).slice(0, listOf(args.first)),
      }),
      files: t.field({
        type: ['SkillFile'],
        description: 'In the order of their paths.',
        args: listArgs(builder, filesOfSkillMax),
        resolve: async (skill, args, { load }) =>
          byPath(await load.filesOfSkill(skill, filesOfSkillMax)).slice(0, listOf(args.first, filesOfSkillMax)),
      }),
      available: t.boolean({
        description: 'False while one of its MCP servers is not Connected.',
        resolve: async (skill, _args, { load }) => whyUnavailable(await needsOf(load, skill)) === null,
      }),
      reason: t.field({
        type: 'Reason',
        nullable: true,
        description: 'Why it is not available, which of its tools is not offered, or that it would have too many.',
        resolve: async (skill, _args, { load }) => {
          const needed = await needsOf(load, skill);
          const unavailable = whyUnavailable(needed);
          if (unavailable !== null) return unavailable;
          const named = await load.toolsOfSkill(skill, toolsOfSkillMax);
          return whyIncomplete(needed, named) ?? whyLeftOut((await followedBy(load, skill)).leftOut);
        },
      }),
      usage: t.field({
        type: 'SkillUsage',
        description: 'Calls of its tools in the last days, up to 90.',
        args: { days: t.arg.int({ required: true }) },
        resolve: (skill, { days }, { backend }) => usageOfSkill(backend.graph, skill, { days, now: Date.now() }),
      }),
    }),
  });

  builder.objectType('SkillUsage', {
    fields: (t) => ({
      calls: t.exposeInt('calls'),
      errors: t.exposeInt('errors'),
      isComplete: t.exposeBoolean('isComplete', {
        description: 'False: there are more records than are summed, so the true numbers are larger.',
      }),
    }),
  });

  builder.objectType('ToolPattern', {
    description: 'Tools of one MCP server that a skill follows as the list of tools changes.',
    fields: (t) => ({
      mcpServer: t.field({
        type: 'McpServer',
        resolve: async (pattern, _args, { load }) => {
          const server = await load.serverOfPattern(pattern);
          if (server === null) throw new Error(`pattern ${pattern.id} has no MCP server`);
          return server;
        },
      }),
      pattern: t.exposeString('pattern', { description: '* stands for any characters.' }),
    }),
  });

  builder.objectType('SkillFile', {
    description: 'A file of a skill, besides its instructions.',
    fields: (t) => ({
      path: t.exposeString('path'),
      digest: t.exposeString('digest', { description: 'sha256 of its bytes.' }),
      sizeBytes: t.exposeInt('sizeBytes'),
      url: t.string({
        description: 'Download address, valid for five minutes.',
        resolve: (file, _args, { backend, principal }) => downloadUrl(backend, principal, file),
      }),
    }),
  });

  builder.objectType('Upload', {
    description: 'The address to PUT the bytes of a file to, and its expiry.',
    fields: (t) => ({
      url: t.exposeString('url'),
      expiresAt: t.exposeFloat('expiresAt', { description: 'Milliseconds since 1970.' }),
    }),
  });

  builder.objectType('SkillPage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Skill'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectFields('Workspace', (t) => ({
    skills: t.field({
      type: 'SkillPage',
      description: 'By name. With a filter, a page may hold fewer than "first" before the last one.',
      args: {
        ...searchArgs(builder),
        role: t.arg.id({ description: 'Those of this role alone.' }),
        available: t.arg.boolean({ description: 'Those that are available, or those that are not.' }),
      },
      resolve: async (workspace, args, { backend, access, load }) => {
        await access(workspace.id, 'read');
        const page = pageOf(args);
        const matches = matchesOf(load, args);
        return matches.length > 0
          ? await filterSkills(backend.graph, { workspace: workspace.id, page, matches })
          : await backend.graph.select({ type: 'skill', anchor: workspace.id, orderBy: 'name', ...page });
      },
    }),
    skill: t.field({
      type: 'Skill',
      nullable: true,
      args: { id: t.arg.id(), name: t.arg.string() },
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'read');
        if (args.id == null) return await backend.graph.findBy('skill', { name: requireName(args) }, workspace.id);
        const id = findId('skill', args.id);
        return id === null ? null : await backend.graph.find('skill', id, workspace.id);
      },
    }),
  }));

  addMutations(builder);
}

function addMutations(builder: Builder): void {
  const toolRef = builder.inputType('ToolRef', {
    description:
      "A tool by its MCP server's name and its own; it may be named before the MCP server has listed it. With * for any characters, all listed tools that match.",
    fields: (t) => ({ mcpServer: t.string({ required: true }), tool: t.string({ required: true }) }),
  });
  const input = builder.inputType('SkillInput', {
    fields: (t) => ({
      name: t.string({ required: true }),
      description: t.string({ defaultValue: '' }),
      instructions: t.string({ defaultValue: '' }),
      tools: t.field({ type: [toolRef], defaultValue: [] }),
    }),
  });
  const patch = builder.inputType('SkillPatch', {
    fields: (t) => ({
      name: t.string(),
      description: t.string(),
      instructions: t.string(),
      tools: t.field({ type: [toolRef] }),
      ifVersion: t.int(),
    }),
  });
  const fileInput = builder.inputType('SkillFileInput', {
    fields: (t) => ({
      path: t.string({ required: true, description: 'Relative, such as references/forms.md' }),
      digest: t.string({ required: true, description: 'sha256 of the bytes, as 64 hexadecimal digits.' }),
      sizeBytes: t.int({ required: true }),
      ifDigest: t.string({ description: 'sha256 of the file that may be replaced, empty for none. Absent: any.' }),
    }),
  });
  builder.mutationFields((t) => ({
    createSkill: t.field({
      type: 'Skill',
      args: { workspace: t.arg.id({ required: true }), input: t.arg({ type: input, required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        createSkill(backend, principal, parseId('workspace', args.workspace), args.input),
    }),
    updateSkill: t.field({
      type: 'Skill',
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        input: t.arg({ type: patch, required: true }),
      },
      resolve: (_root, args, { backend, principal }) =>
        updateSkill(backend, principal, parseId('workspace', args.workspace), args.id, args.input),
    }),
    addSkillFile: t.field({
      type: 'Upload',
      description:
        'Returns the address to PUT the bytes of a file to. The file exists once they arrive, in place of one with the same path.',
      args: {
        workspace: t.arg.id({ required: true }),
        skill: t.arg.id({ required: true }),
        input: t.arg({ type: fileInput, required: true }),
      },
      resolve: (_root, { workspace, skill, input }, { backend, principal }) =>
        offerUpload(backend, principal, { workspace: parseId('workspace', workspace), skill }, input),
    }),
    removeSkillFile: t.boolean({
      args: {
        workspace: t.arg.id({ required: true }),
        skill: t.arg.id({ required: true }),
        path: t.arg.string({ required: true }),
        ifDigest: t.arg.string({ description: 'sha256 of the file that may be removed; absent: any.' }),
      },
      resolve: async (_root, { workspace, skill, path, ifDigest = null }, { backend, principal }) => {
        const file = { path, replaced: ifDigest };
        await removeFile(backend, principal, { workspace: parseId('workspace', workspace), skill }, file);
        return true;
      },
    }),
    removeSkill: t.boolean({
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        ifVersion: t.arg.int(),
        ifUsedBy: t.arg.idList({ description: 'Roles that may lose it; absent: any.' }),
      },
      resolve: async (_root, { workspace, ...removal }, { backend, principal }) => {
        await removeSkill(backend, principal, parseId('workspace', workspace), removal);
        return true;
      },
    }),
  }));
}

interface SkillFilter {
  readonly role?: string | null | undefined;
  readonly available?: boolean | null | undefined;
}

function matchesOf(load: GraphqlContext['load'], { role, available }: SkillFilter) {
  const matches: ((skill: Node<'skill'>) => Promise<boolean>)[] = [];
  if (role != null) {
    const id = parseRoleFilter(role);
    matches.push(async (skill) => (await load.rolesOfSkill(skill, rolesMax)).some((one) => one.id === id));
  }
  if (available != null) {
    matches.push(async (skill) => (whyUnavailable(await needsOf(load, skill)) === null) === available);
  }
  return matches;
}

/** The MCP servers of a skill with their states. */
async function needsOf(load: GraphqlContext['load'], skill: Node<'skill'>): Promise<readonly NeededServer[]> {
  const servers = await serversOf(load, skill);
  return await Promise.all(servers.map(async (server) => ({ server, state: await stateOfServer(load, server) })));
}

/** The tools of a skill: the named ones, and the listed ones that match its patterns. */
async function followedBy(load: GraphqlContext['load'], skill: Node<'skill'>) {
  const [named, patterns] = await Promise.all([
    load.toolsOfSkill(skill, toolsOfSkillMax),
    load.patternsOfSkill(skill, patternsOfSkillMax),
  ]);
  const oneOfEach = [...new Map(patterns.map((pattern) => [pattern.mcpServer, pattern])).values()];
  const listed = new Map(
    await Promise.all(oneOfEach.map(async (one) => [one.mcpServer, await load.listedToolsOf(one)] as const)),
  );
  return followTools(named, patterns, (mcpServer) => listed.get(mcpServer) ?? []);
}

function byPath(files: readonly Node<'file'>[]): readonly Node<'file'>[] {
  return files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** The MCP servers of its named tools and of its patterns, each once, by name. */
async function serversOf(load: GraphqlContext['load'], skill: Node<'skill'>) {
  const [tools, patterns] = await Promise.all([
    load.toolsOfSkill(skill, toolsOfSkillMax),
    load.patternsOfSkill(skill, patternsOfSkillMax),
  ]);
  const oneOfEach = new Map(tools.map((tool) => [tool.mcpServer, tool]));
  const followed = new Map(
    patterns.filter(({ mcpServer }) => !oneOfEach.has(mcpServer)).map((pattern) => [pattern.mcpServer, pattern]),
  );
  const servers = await Promise.all([
    ...[...oneOfEach.values()].map((tool) => load.serverOfTool(tool)),
    ...[...followed.values()].map((pattern) => load.serverOfPattern(pattern)),
  ]);
  return servers.flatMap((server) => (server === null ? [] : [server])).sort((a, b) => (a.name < b.name ? -1 : 1));
}
