import { SvcError } from '../../contracts/errors.ts';
import { parseId } from '../../contracts/ids.ts';
import type { Graph, Page } from '../graph/graph.ts';
import { platformHome } from '../graph/platform-home.ts';
import { registerSystemKey } from '../keys/system-keys.ts';
import { requireOperator } from '../members/access.ts';
import type { LiveProcess } from '../runtimes/processes.ts';
import { busServersOf, registerRuntime } from '../runtimes/register-runtime.ts';
import { revokeRuntime } from '../runtimes/revoke-runtime.ts';
import { runtimesRunning } from '../servers/bound-runtimes.ts';
import type { Builder } from './builder.ts';
import { listArgs, listOf, pageArgs, pageOf, searchArgs } from './paging.ts';

export function addRuntimes(builder: Builder): void {
  builder.objectType('Runtime', {
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      platform: t.boolean({
        description: "True for the platform's own runtime.",
        resolve: ({ home }) => home === platformHome,
      }),
      available: t.boolean({ resolve: ({ id }, _args, { backend }) => backend.processes.isAvailable(id) }),
      lastHeartbeatAt: t.float({
        nullable: true,
        description: 'Exact while it is available, to the minute afterwards.',
        resolve: ({ id, lastHeartbeatAt }, _args, { backend }) => backend.processes.lastHeardAt(id) ?? lastHeartbeatAt,
      }),
      versions: t.stringList({
        description: 'Program versions that its live processes report.',
        resolve: ({ id }, _args, { backend }) => versionsOf(backend.processes.of(id)),
      }),
      sandboxes: t.stringList({
        description: 'How its live processes confine MCP servers: none or bwrap.',
        resolve: ({ id }, _args, { backend }) => sandboxesOf(backend.processes.of(id)),
      }),
      runningCalls: t.int({
        nullable: true,
        description:
          "Calls in progress at its last heartbeats. Null for the platform's own runtime: it serves other workspaces too.",
        resolve: ({ id, home }, _args, { backend }) =>
          home === platformHome ? null : backend.processes.of(id).reduce((sum, { inFlight }) => sum + inFlight, 0),
      }),
    }),
  });

  builder.objectType('RuntimePage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Runtime'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectField('Workspace', 'runtimes', (t) =>
    t.field({
      type: 'RuntimePage',
      args: searchArgs(builder),
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'read');
        return await runtimesAt(backend.graph, workspace.id, pageOf(args));
      },
    }),
  );

  builder.objectFields('Workspace', (t) => ({
    platformRuntimes: t.field({
      type: ['Runtime'],
      description: "The platform's own runtimes, which run the MCP servers that are bound to none.",
      args: listArgs(builder),
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'read');
        return (await runtimesRunning(backend.graph, [])).slice(0, listOf(args.first));
      },
    }),
    busServers: t.stringList({
      description:
        'Addresses of the bus for runtimes on other machines; empty where none can connect. Owner and admin only.',
      resolve: async (workspace, _args, { backend, access }) => {
        await access(workspace.id, 'administer');
        return [...busServersOf(backend)];
      },
    }),
  }));

  builder.queryField('platformRuntimes', (t) =>
    t.field({
      type: 'RuntimePage',
      description: "The platform's own runtimes. Operators only.",
      args: pageArgs(builder),
      resolve: async (_root, args, { backend, principal }) => {
        requireOperator(principal, "see the platform's own runtimes");
        return await runtimesAt(backend.graph, platformHome, pageOf(args));
      },
    }),
  );

  builder.subscriptionField('runtimeStates', (t) =>
    t.field({
      type: 'Runtime',
      description:
        'A runtime of the workspace or of the platform, after each sign of life and each end of one of its processes.',
      args: { workspace: t.arg.id({ required: true }) },
      subscribe: (_root, { workspace }, { backend, principal, operation }) => {
        if (principal.kind === 'operator') throw new SvcError('unsupported', 'Only people follow runtimes.');
        return backend.changes.followRuntimes(principal, parseId('workspace', workspace), operation.signal);
      },
      resolve: (runtime) => runtime,
    }),
  );

  addMutations(builder);
}

function addMutations(builder: Builder): void {
  builder.objectType('RegisteredRuntime', {
    fields: (t) => ({
      runtime: t.expose('runtime', { type: 'Runtime' }),
      secret: t.string({ resolve: ({ secret }) => secret.reveal() }),
      busServers: t.stringList({ resolve: ({ busServers }) => [...busServers] }),
      authority: t.exposeString('authority', {
        nullable: true,
        description:
          'PEM text of the authority that signs the certificate of the bus; null without TLS and for a public authority.',
      }),
      version: t.string({
        description: 'Version of the program that the platform runs, for the runtime.',
        resolve: (_registered, _args, { backend }) => backend.version,
      }),
      overlapEndsAt: t.exposeFloat('overlapEndsAt', {
        nullable: true,
        description: 'When earlier keys expire; null without earlier keys.',
      }),
    }),
  });
  const input = builder.inputType('SystemKeyInput', {
    fields: (t) => ({
      component: t.string({ required: true }),
      key: t.string({ required: true }),
      runtimeNames: t.stringList(),
    }),
  });
  builder.mutationFields((t) => ({
    registerRuntime: t.field({
      type: 'RegisteredRuntime',
      description:
        'For this workspace; absent: for the platform itself (operators only). An existing name gets a new key, and the old one stays valid for a while.',
      args: { workspace: t.arg.id(), name: t.arg.string({ required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        registerRuntime(backend, principal, { workspace: workspaceOf(args), name: args.name }),
    }),
    revokeRuntime: t.boolean({
      args: {
        workspace: t.arg.id(),
        id: t.arg.id({ required: true }),
        ifUsedBy: t.arg.idList({ description: 'MCP servers that may be bound to it; absent: any.' }),
      },
      resolve: async (_root, { id, ifUsedBy, ...args }, { backend, principal }) => {
        await revokeRuntime(backend, principal, { workspace: workspaceOf(args), id, ifUsedBy });
        return true;
      },
    }),
    registerSystemKey: t.boolean({
      description: 'Makes a system key known to the platform. Operators only; the same key again changes nothing.',
      args: { input: t.arg({ type: input, required: true }) },
      resolve: async (_root, args, { backend, principal }) => {
        await registerSystemKey(backend, principal, args.input);
        return true;
      },
    }),
  }));
}

export function sandboxesOf(processes: readonly LiveProcess[]): string[] {
  return [...new Set(processes.flatMap(({ sandbox }) => sandbox ?? []))].sort();
}

function versionsOf(processes: readonly LiveProcess[]): string[] {
  return [...new Set(processes.flatMap(({ version }) => version ?? []))].sort();
}

function workspaceOf(args: { readonly workspace?: string | null | undefined }) {
  return args.workspace == null ? null : parseId('workspace', args.workspace);
}

/** A revoked runtime is kept, because MCP servers stay bound to it, but no longer listed. */
async function runtimesAt(graph: Graph, home: string, page: ReturnType<typeof pageOf>): Promise<Page<'runtime'>> {
  const where = [{ field: 'home' as const, equals: home }];
  const { nodes, next } = await graph.select({ type: 'runtime', anchor: null, where, ...page });
  return { nodes: nodes.filter(({ revokedAt }) => revokedAt === null), next };
}
