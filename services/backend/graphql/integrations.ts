import { findId, parseId } from '../../contracts/ids.ts';
import { beginAuthorization, finishAuthorization, listIn } from '../integrations/authorize.ts';
import { disconnectIntegration, updateIntegration } from '../integrations/change-integration.ts';
import { integrationStates } from '../integrations/integration-state.ts';
import { findProblem } from '../integrations/integrations.ts';
import { redirectUriOf } from '../integrations/provider-client.ts';
import type { Builder } from './builder.ts';
import { pageArgs, pageOf } from './paging.ts';

export function addIntegrations(builder: Builder): void {
  const stateType = builder.enumType('IntegrationState', { values: integrationStates });
  const clientKinds = ['own', 'dynamic', 'document'] as const;
  const clientType = builder.enumType('IntegrationClient', {
    description:
      'own: an admin entered it. dynamic: the platform registered itself. document: the platform’s metadata.',
    values: clientKinds,
  });
  builder.objectType('Integration', {
    description: 'The OAuth connection of an MCP server. Its tokens are never shown.',
    fields: (t) => ({
      id: t.exposeID('id'),
      state: t.field({
        type: stateType,
        resolve: ({ state }) => integrationStates.find((known) => known === state) ?? 'needs_authorization',
      }),
      mcpServer: t.field({
        type: 'McpServer',
        nullable: true,
        resolve: (integration, _args, { load }) => load.serverOfIntegration(integration),
      }),
      issuer: t.exposeString('issuer', { nullable: true, description: 'The authorization server.' }),
      client: t.field({
        type: clientType,
        nullable: true,
        resolve: ({ clientKind }) => clientKinds.find((kind) => kind === clientKind) ?? null,
      }),
      clientId: t.exposeString('clientId', { nullable: true }),
      scopes: t.stringList({ description: 'Granted.', resolve: ({ scopes }) => [...(listIn(scopes) ?? [])] }),
      wantedScopes: t.stringList({
        description: 'Asked for at the next connection; empty: those that the MCP server names.',
        resolve: ({ wantedScopes }) => [...(listIn(wantedScopes) ?? [])],
      }),
      expiresAt: t.exposeFloat('expiresAt', { nullable: true, description: 'End of the present token.' }),
      refreshedAt: t.exposeFloat('refreshedAt', { nullable: true }),
      connectedAt: t.exposeFloat('connectedAt', { nullable: true }),
      problem: t.field({ type: 'Reason', nullable: true, resolve: findProblem }),
      redirectUri: t.string({
        description: 'To be registered at the provider exactly.',
        resolve: (_integration, _args, { backend }) => redirectUriOf(backend),
      }),
    }),
  });

  builder.objectType('IntegrationPage', {
    fields: (t) => ({
      nodes: t.expose('nodes', { type: ['Integration'] }),
      pageInfo: t.field({ type: 'PageInfo', resolve: (page) => page }),
    }),
  });

  builder.objectFields('Workspace', (t) => ({
    integrations: t.field({
      type: 'IntegrationPage',
      args: { ...pageArgs(builder), state: t.arg({ type: stateType }) },
      resolve: async ({ id: anchor }, { state, ...page }, { backend, access }) => {
        await access(anchor, 'read');
        const where = state == null ? [] : [{ field: 'state', equals: state } as const];
        return await backend.graph.select({
          ...{ type: 'integration', anchor, where, orderBy: 'createdAt' },
          ...pageOf(page),
        });
      },
    }),
    integration: t.field({
      type: 'Integration',
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      resolve: async (workspace, args, { backend, access }) => {
        await access(workspace.id, 'read');
        const id = findId('integration', args.id);
        return id === null ? null : await backend.graph.find('integration', id, workspace.id);
      },
    }),
  }));
  builder.objectField('McpServer', 'integration', (t) =>
    t.field({
      type: 'Integration',
      nullable: true,
      description: 'Null if it never asked for authorization.',
      resolve: async (server, _args, { load }) => (await load.integrationsOfServer(server, 1))[0] ?? null,
    }),
  );

  addMutations(builder);
}

function addMutations(builder: Builder): void {
  const patch = builder.inputType('IntegrationPatch', {
    fields: (t) => ({
      scopes: t.stringList({ description: 'Empty: those that the MCP server names.' }),
      clientId: t.string({ description: 'Empty: the platform registers itself.' }),
      clientSecret: t.string({ description: 'Stored encrypted, never shown. Absent: a public client.' }),
    }),
  });
  builder.mutationFields((t) => ({
    beginIntegration: t.string({
      description: 'The address at the authorization server, for the browser of the person. Valid for ten minutes.',
      args: { workspace: t.arg.id({ required: true }), id: t.arg.id({ required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        beginAuthorization(backend, principal, parseId('workspace', args.workspace), args.id),
    }),
    finishIntegration: t.field({
      type: 'Integration',
      description: 'Only in the browser session that began it.',
      args: { answer: t.arg.string({ required: true, description: 'The query of the redirect URI.' }) },
      resolve: (_root, { answer }, { backend, principal }) => finishAuthorization(backend, principal, answer),
    }),
    updateIntegration: t.field({
      type: 'Integration',
      args: {
        workspace: t.arg.id({ required: true }),
        id: t.arg.id({ required: true }),
        input: t.arg({ type: patch, required: true }),
      },
      resolve: (_root, { workspace, id, input }, { backend, principal }) =>
        updateIntegration(backend, principal, parseId('workspace', workspace), id, input),
    }),
    disconnectIntegration: t.field({
      type: 'Integration',
      description: 'Forgets the tokens, and revokes them where the provider allows it.',
      args: { workspace: t.arg.id({ required: true }), id: t.arg.id({ required: true }) },
      resolve: (_root, args, { backend, principal }) =>
        disconnectIntegration(backend, principal, parseId('workspace', args.workspace), args.id),
    }),
  }));
}
