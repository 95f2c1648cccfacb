import { health, serverStatus } from '../../contracts/bus/messages.ts';
import { findId, parseId } from '../../contracts/ids.ts';
import { authors, confinementOf, homeOf } from '../../contracts/sandbox.ts';
import { findSender } from '../bus/sender.ts';
import type { Node } from '../graph/graph.ts';
import { allows } from '../members/access.ts';

import { runtimesPerServerMax, runtimesRunning } from '../servers/bound-runtimes.ts';
import { authorOf, createMcpServer, restartMcpServer, updateMcpServer } from '../servers/change-servers.ts';
import { findRefusal, parseCommandRule } from '../servers/command-rule.ts';
import { changedSettings, completeLaunch, type Keeping, requireOwnSecrets } from '../servers/kept-settings.ts';
import { decryptLaunch, fingerprintOf, viewOf } from '../servers/launch.ts';
import { removeMcpServer } from '../servers/remove-server.ts';
import { skillsUsing } from '../servers/skills-using.ts';
import { type ServerState, stateOf } from '../servers/status.ts';
import type { Builder, GraphqlContext } from './builder.ts';
import { failing, filterServers, runBy } from './filter-mcp-servers.ts';
import { listArgs, listOf, pageArgs, pageOf, searchArgs } from './paging.ts';
import { requireName } from './workspaces.ts';

/** Processes of all runtimes of one MCP server: more than exist. */
const statusesMax = 1000;

export function addMcpServers(builder: Builder): void {
  addServer(builder);
  addLaunch(builder);

  builder.objectType('Reason', {
    fields: (t) => ({
      code: t.exposeString('code'),
      message: t.exposeString('message'),
      repair: t.exposeString('repair'),
    }),
  });

  builder.objectType('McpServerPage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['McpServer'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectFields('Workspace', (t) => ({
    mcpServers: t.field({
      type: 'McpServerPage',
      description: 'By name. With a filter, a page may hold fewer than "first" before the last one.',
      args: {
        ...searchArgs(builder),
        runtime: t.arg.id({ description: 'Those that this runtime runs.' }),
        failing: t.arg.boolean({
          description: 'Those that are enabled, not starting and not Connected; false: the others.',
        }),
      },
      resolve: async (workspace, args, context) => {
        const { backend, access, load } = context;
        await access(workspace.id, 'read');
        const page = pageOf(args);
        const matches = [
          ...(args.runtime == null ? [] : [runBy(parseId('runtime', args.runtime), context)]),
          ...(args.failing == null ? [] : [failing(args.failing, (server) => stateOfServer(load, server))]),
        ];
        return matches.length > 0
          ? await filterServers(backend.graph, { workspace: workspace.id, page, matches })
          : await backend.graph.select({ type: 'mcpServer', anchor: workspace.id, orderBy: 'name', ...page });
      },
    }),
    mcpServer: t.field({
      type: 'McpServer',
      nullable: true,
      args: { id: t.arg.id(), name: t.arg.string() },
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'read');
        if (args.id == null) return await backend.graph.findBy('mcpServer', { name: requireName(args) }, workspace.id);
        const id = findId('mcpServer', args.id);
        return id === null ? null : await backend.graph.find('mcpServer', id, workspace.id);
      },
    }),
  }));
}

function addServer(builder: Builder): void {
  const kindType = builder.enumType('McpServerKind', { values: ['child', 'http'] as const });
  const statusType = builder.enumType('McpServerStatus', { values: serverStatus.options });
  const healthType = builder.enumType('Health', { values: health.options });
  builder.objectType('McpServer', {
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      kind: t.field({ type: kindType, resolve: ({ kind }) => (kind === 'http' ? 'http' : 'child') }),
      enabled: t.exposeBoolean('enabled'),
      version: t.exposeInt('version'),
      startTimeout: t.exposeInt('startTimeout', {
        nullable: true,
        description: "Seconds from its launch to its list of tools; null: the platform's setting.",
      }),
      callTimeout: t.exposeInt('callTimeout', {
        nullable: true,
        description: "Seconds that a call may be without an answer and without progress; null: the platform's setting.",
      }),
      launch: t.field({
        type: 'Launch',
        nullable: true,
        description:
          'Its start settings, without the values of secret variables and headers. Owner and admin only; null for others.',
        resolve: async (server, _args, context) =>
          (await maySeeLaunch(context, server)) ? viewOf(context.backend.secrets, launchOf(context, server)) : null,
      }),
      status: t.field({
        type: statusType,
        resolve: async (server, _args, context) => (await stateOfServer(context.load, server)).status,
      }),
      health: t.field({
        type: healthType,
        resolve: async (server, _args, context) => (await stateOfServer(context.load, server)).health,
      }),
      reason: t.field({
        type: 'Reason',
        nullable: true,
        resolve: async (server, _args, context) => (await stateOfServer(context.load, server)).reason,
      }),
      restarts: t.int({
        resolve: async (server, _args, context) => (await stateOfServer(context.load, server)).restarts,
      }),
      lastStartedAt: t.float({
        nullable: true,
        resolve: async (server, _args, context) => (await stateOfServer(context.load, server)).startedAt,
      }),
      nextRetryAt: t.float({
        nullable: true,
        resolve: async (server, _args, context) => (await stateOfServer(context.load, server)).nextRetryAt,
      }),
      stderr: t.stringList({
        description: 'Last lines of its stderr. Owner and admin only; empty for others.',
        resolve: async (server, _args, context) =>
          (await maySeeLaunch(context, server)) ? [...(await stateOfServer(context.load, server)).stderr] : [],
      }),
      sandboxes: t.stringList({
        description:
          'How its processes confine it: none, bwrap or container. Empty without a process, and for kind http.',
        resolve: async (server, _args, context) => {
          const { setBy, processes } = await processesOf(context, server);
          return distinct(processes.flatMap(({ sandbox }) => (sandbox === null ? [] : confinementOf(sandbox, setBy))));
        },
      }),
      homes: t.stringList({
        description:
          'HOME of its processes. user: that of the user who runs the runtime. own: a folder of the MCP server. Empty without a process, and for kind http.',
        resolve: async (server, _args, context) => {
          const { setBy, processes } = await processesOf(context, server);
          return distinct(
            processes.flatMap(({ sandbox, home }) => (sandbox === null ? [] : homeOf({ sandbox, home }, setBy))),
          );
        },
      }),
      tools: t.field({
        type: 'ToolPage',
        args: pageArgs(builder),
        resolve: (server, args, { backend }) =>
          backend.graph.select({
            type: 'tool',
            anchor: server.workspace,
            where: [{ field: 'mcpServer', equals: server.id }],
            ...pageOf(args),
          }),
      }),
      skills: t.field({
        type: ['Skill'],
        description: 'Those that use its tools.',
        args: listArgs(builder),
        resolve: (server, args, { backend }) => skillsUsing(backend.graph, server, listOf(args.first)),
      }),
      runtimes: t.field({
        type: ['Runtime'],
        args: listArgs(builder),
        resolve: async (server, args, { backend, load }) => {
          const bound = await load.runtimesOfServer(server, runtimesPerServerMax);
          return (await runtimesRunning(backend.graph, bound)).slice(0, listOf(args.first));
        },
      }),
    }),
  });

  addMutations(builder);
}

/** The live processes that run its command, and the author of the command. */
async function processesOf(context: GraphqlContext, server: Node<'mcpServer'>) {
  if (server.kind === 'http') return { setBy: 'operator' as const, processes: [] };
  const statuses = await context.load.statusesOfServer(server, statusesMax);
  const processes = statuses.flatMap((status) => {
    const sender = findSender(status);
    return sender === null ? [] : (context.backend.processes.find(sender) ?? []);
  });
  return { setBy: launchOf(context, server).setBy, processes };
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)].sort();
}

function addLaunch(builder: Builder): void {
  const authorType = builder.enumType('Author', { values: authors });
  builder.objectType('ShownSetting', {
    description: 'An environment variable or a header.',
    fields: (t) => ({
      name: t.exposeString('name'),
      value: t.exposeString('value', { nullable: true, description: 'Null if it is secret.' }),
    }),
  });
  builder.objectType('DeclaredSetting', {
    description: 'An environment variable or a header that people fill in.',
    fields: (t) => ({
      name: t.exposeString('name'),
      title: t.exposeString('title', { description: 'Empty: its name.' }),
      description: t.exposeString('description'),
      secret: t.exposeBoolean('secret', { description: 'Whether its value is never shown.' }),
      required: t.exposeBoolean('required', { description: 'Without a value, the MCP server is not started.' }),
      isSet: t.exposeBoolean('isSet', { description: 'Whether it has a value.' }),
    }),
  });
  builder.objectType('Launch', {
    fields: (t) => ({
      command: t.exposeString('command', { nullable: true }),
      args: t.exposeStringList('args', { nullable: true }),
      cwd: t.exposeString('cwd', { nullable: true }),
      url: t.exposeString('url', { nullable: true }),
      envNames: t.exposeStringList('envNames'),
      headerNames: t.exposeStringList('headerNames'),
      env: t.expose('env', { type: ['ShownSetting'] }),
      headers: t.expose('headers', { type: ['ShownSetting'] }),
      settings: t.expose('settings', {
        type: ['DeclaredSetting'],
        description: 'Those of env or headers that people fill in.',
      }),
      setBy: t.expose('setBy', { type: authorType, description: 'Who set it.' }),
      fingerprint: t.exposeString('fingerprint', {
        description: 'Equal for equal configurations, secrets included; it reveals nothing else.',
      }),
    }),
  });
}

function addMutations(builder: Builder): void {
  const setting = builder.inputType('Setting', {
    fields: (t) => ({
      name: t.string({ required: true }),
      value: t.string({ description: 'Null keeps the stored value of the MCP server.' }),
      secret: t.boolean({
        description: 'Whether the value is never shown. Absent: as stored if the value is kept, else true.',
      }),
    }),
  });
  const declaration = builder.inputType('SettingDeclaration', {
    description: 'Says what a variable of env, or a header of headers, is for.',
    fields: (t) => ({
      name: t.string({ required: true }),
      title: t.string(),
      description: t.string(),
      secret: t.boolean({ description: 'Absent: true.' }),
      required: t.boolean({ description: 'Absent: true. Without a value, the MCP server is not started.' }),
    }),
  });
  const launchInput = builder.inputType('LaunchInput', {
    description: 'Either command (with args, cwd, env) or url (with headers).',
    fields: (t) => ({
      command: t.string(),
      args: t.stringList(),
      cwd: t.string(),
      env: t.field({ type: [setting] }),
      url: t.string(),
      headers: t.field({ type: [setting] }),
      settings: t.field({
        type: [declaration],
        description: 'Settings that people fill in. Null keeps those of the MCP server.',
      }),
    }),
  });
  const input = builder.inputType('McpServerInput', {
    fields: (t) => ({
      name: t.string({ required: true }),
      launch: t.field({ type: launchInput, required: true }),
      runtime: t.string({ description: "Name of its runtime; absent: the platform's own." }),
      enabled: t.boolean({ defaultValue: true }),
      startTimeout: t.int({ description: "Seconds; absent: the platform's setting." }),
      callTimeout: t.int({ description: "Seconds; absent: the platform's setting." }),
    }),
  });
  const patch = builder.inputType('McpServerPatch', {
    fields: (t) => ({
      name: t.string(),
      launch: t.field({ type: launchInput }),
      runtime: t.string({ description: "An empty text moves it back to the platform's own." }),
      enabled: t.boolean(),
      startTimeout: t.int({ description: "0: the platform's setting." }),
      callTimeout: t.int({ description: "0: the platform's setting." }),
      ifVersion: t.int(),
    }),
  });

  builder.objectField('Workspace', 'launchFingerprint', (t) =>
    t.string({
      description:
        'The fingerprint of an MCP server with this launch: shows whether secrets would change, without changing them. Owner and admin only.',
      args: {
        launch: t.arg({ type: launchInput, required: true }),
        mcpServer: t.arg.string({ description: 'Name of the MCP server whose stored values it may keep.' }),
      },
      resolve: async (workspace, args, context) => {
        await context.access(workspace.id, 'administer');
        const keeping = await keepingOf(context, workspace, args.mcpServer);
        return fingerprintOf(context.backend.secrets, completeLaunch(args.launch, keeping));
      },
    }),
  );

  builder.objectField('Workspace', 'launchRefusal', (t) =>
    t.string({
      nullable: true,
      description: 'Why this installation refuses a launch; null when it allows it. Owner and admin only.',
      args: {
        launch: t.arg({ type: launchInput, required: true }),
        mcpServer: t.arg.string({ description: 'Name of the MCP server whose stored values it may keep.' }),
      },
      resolve: async (workspace, args, context) => {
        await context.access(workspace.id, 'administer');
        const { launch } = completeLaunch(args.launch, await keepingOf(context, workspace, args.mcpServer));
        return findRefusal(parseCommandRule(context.backend.config.MCP_SERVER_COMMANDS), launch);
      },
    }),
  );

  builder.objectField('McpServer', 'changedSettings', (t) =>
    t.stringList({
      description:
        'Settings that this launch would change, such as env.TOKEN or headers.x-key. Owner and admin only, and members only if a member set the present launch.',
      args: { launch: t.arg({ type: launchInput, required: true }) },
      resolve: async (server, args, context) => {
        await context.access(server.workspace, 'administer');
        const keeping = keepingWith(context, server);
        // The answer says whether a guessed value is right.
        requireOwnSecrets(keeping);
        return [...changedSettings(keeping.kept, completeLaunch(args.launch, keeping))];
      },
    }),
  );

  builder.mutationFields((t) => ({
    createMcpServer: t.field({
      type: 'McpServer',
      args: { workspace: t.arg.id({ required: true }), input: t.arg({ type: input, required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        createMcpServer(backend, principal, parseId('workspace', args.workspace), args.input),
    }),
    updateMcpServer: t.field({
      type: 'McpServer',
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        input: t.arg({ type: patch, required: true }),
      },
      resolve: (_root, args, { backend, principal }) =>
        updateMcpServer(backend, principal, parseId('workspace', args.workspace), args.id, args.input),
    }),
    removeMcpServer: t.boolean({
      description: 'Skills lose its tools.',
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        ifVersion: t.arg.int(),
        ifUsedBy: t.arg.idList({ description: 'Skills that may lose tools; absent: any.' }),
      },
      resolve: async (_root, { workspace, ...removal }, { backend, principal }) => {
        await removeMcpServer(backend, principal, parseId('workspace', workspace), removal);
        return true;
      },
    }),
    restartMcpServer: t.boolean({
      args: { workspace: t.arg.id({ required: true }), id: t.arg.id({ required: true }) },
      resolve: async (_root, args, { backend, principal }) => {
        await restartMcpServer(backend, principal, parseId('workspace', args.workspace), args.id);
        return true;
      },
    }),
  }));
}

/** The state and its reason. */
export async function stateOfServer(load: GraphqlContext['load'], server: Node<'mcpServer'>): Promise<ServerState> {
  const [statuses, bound] = await Promise.all([
    load.statusesOfServer(server, statusesMax),
    load.runtimesOfServer(server, runtimesPerServerMax),
  ]);
  return stateOf(server, statuses, bound);
}

/** A launch is a command on a person's machine, and its output may contain secrets it was given. */
async function maySeeLaunch({ access }: GraphqlContext, server: Node<'mcpServer'>): Promise<boolean> {
  const { role } = await access(server.workspace, 'read');
  return allows(role, 'administer');
}

/** The stored values that the caller may keep. Null without a name, and for an unknown MCP server, as in a new one. */
async function keepingOf(
  context: GraphqlContext,
  { id }: Node<'workspace'>,
  name: string | null | undefined,
): Promise<Keeping | null> {
  const server = name == null ? null : await context.backend.graph.findBy('mcpServer', { name }, id);
  return server === null ? null : keepingWith(context, server);
}

function keepingWith(context: GraphqlContext, server: Node<'mcpServer'>): Keeping {
  return { name: server.name, kept: launchOf(context, server), author: authorOf(context.principal) };
}

function launchOf({ backend }: GraphqlContext, server: Node<'mcpServer'>) {
  return decryptLaunch(backend, server);
}
