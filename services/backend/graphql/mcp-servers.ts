import { health, serverStatus } from '../../contracts/bus/messages.ts';
import { findId, parseId } from '../../contracts/ids.ts';
import { authors, confinementOf } from '../../contracts/sandbox.ts';
import { findSender } from '../bus/sender.ts';
import type { Node } from '../graph/graph.ts';
import { allows } from '../members/access.ts';

import { runtimesPerServerMax, runtimesRunning } from '../servers/bound-runtimes.ts';
import { createMcpServer, restartMcpServer, updateMcpServer } from '../servers/change-servers.ts';
import { findRefusal, parseCommandRule } from '../servers/command-rule.ts';
import { decryptLaunch, fingerprintOf, viewOf } from '../servers/launch.ts';
import { parseLaunch } from '../servers/parse-launch.ts';
import { removeMcpServer } from '../servers/remove-server.ts';
import { type ServerState, stateOf } from '../servers/status.ts';
import type { Builder, GraphqlContext } from './builder.ts';
import { listArgs, listOf, pageArgs, pageOf, searchArgs } from './paging.ts';
import { sandboxesOf } from './runtimes.ts';
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
      args: searchArgs(builder),
      resolve: async ({ id: anchor }, args, { backend, access }) => {
        await access(anchor, 'read');
        return await backend.graph.select({ type: 'mcpServer', anchor, orderBy: 'name', ...pageOf(args) });
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
      launch: t.field({
        type: 'Launch',
        nullable: true,
        description:
          'Its start settings, without the values of env and headers. Owner and admin only; null for others.',
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
          if (server.kind === 'http') return [];
          const { processes } = context.backend;
          const statuses = await context.load.statusesOfServer(server, statusesMax);
          const { setBy } = launchOf(context, server);
          const settings = sandboxesOf(
            statuses.flatMap((status) => {
              const sender = findSender(status);
              return sender === null ? [] : (processes.find(sender) ?? []);
            }),
          );
          return [...new Set(settings.map((setting) => confinementOf(setting, setBy)))].sort();
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

function addLaunch(builder: Builder): void {
  const authorType = builder.enumType('Author', { values: authors });
  builder.objectType('Launch', {
    fields: (t) => ({
      command: t.exposeString('command', { nullable: true }),
      args: t.exposeStringList('args', { nullable: true }),
      cwd: t.exposeString('cwd', { nullable: true }),
      url: t.exposeString('url', { nullable: true }),
      envNames: t.exposeStringList('envNames'),
      headerNames: t.exposeStringList('headerNames'),
      setBy: t.expose('setBy', { type: authorType, description: 'Who set it.' }),
      fingerprint: t.exposeString('fingerprint', {
        description: 'Equal for equal configurations, secrets included; it reveals nothing else.',
      }),
    }),
  });
}

function addMutations(builder: Builder): void {
  const setting = builder.inputType('Setting', {
    fields: (t) => ({ name: t.string({ required: true }), value: t.string({ required: true }) }),
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
    }),
  });
  const input = builder.inputType('McpServerInput', {
    fields: (t) => ({
      name: t.string({ required: true }),
      launch: t.field({ type: launchInput, required: true }),
      runtime: t.string({ description: "Name of its runtime; absent: the platform's own." }),
      enabled: t.boolean({ defaultValue: true }),
    }),
  });
  const patch = builder.inputType('McpServerPatch', {
    fields: (t) => ({
      name: t.string(),
      launch: t.field({ type: launchInput }),
      runtime: t.string({ description: "An empty text moves it back to the platform's own." }),
      enabled: t.boolean(),
      ifVersion: t.int(),
    }),
  });

  builder.objectField('Workspace', 'launchFingerprint', (t) =>
    t.string({
      description:
        'The fingerprint of an MCP server with this launch: shows whether secrets would change, without changing them. Owner and admin only.',
      args: { launch: t.arg({ type: launchInput, required: true }) },
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'administer');
        return fingerprintOf(backend.secrets, parseLaunch(args.launch));
      },
    }),
  );

  builder.objectField('Workspace', 'launchRefusal', (t) =>
    t.string({
      nullable: true,
      description: 'Why this installation refuses a launch; null when it allows it. Owner and admin only.',
      args: { launch: t.arg({ type: launchInput, required: true }) },
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'administer');
        return findRefusal(parseCommandRule(backend.config.MCP_SERVER_COMMANDS), parseLaunch(args.launch));
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
      args: { workspace: t.arg.id({ required: true }), id: t.arg.id({ required: true }) },
      resolve: async (_root, args, { backend, principal }) => {
        await removeMcpServer(backend, principal, parseId('workspace', args.workspace), args.id);
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

function launchOf({ backend }: GraphqlContext, server: Node<'mcpServer'>) {
  return decryptLaunch(backend.secrets, server);
}
