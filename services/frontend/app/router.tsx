import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { findProviderRefusal, type ProviderRefusal } from '../../contracts/provider-refusal.ts';
import { Frame } from './frame.tsx';
import { oauthCallbackPath } from './oauth-answer.ts';
import { readSkillSearch, readSkillsSearch } from './skill-search.ts';
import { StartPage } from './start-page.tsx';

const root = createRootRoute({
  notFoundComponent: lazyRouteComponent(() => import('../pages/not-found-page.tsx'), 'NotFoundPage'),
});

const start = createRoute({ getParentRoute: () => root, path: '/', component: StartPage });

const connect = createRoute({
  getParentRoute: () => root,
  path: '/connect',
  component: lazyRouteComponent(() => import('../pages/connect-page.tsx'), 'ConnectPage'),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ back, refused }: Record<string, unknown>): SignInSearch => ({
    ...(typeof back === 'string' && { back }),
    ...(findProviderRefusal(refused) !== undefined && { refused: findProviderRefusal(refused) }),
  }),
  component: lazyRouteComponent(() => import('../pages/sign-in-page.tsx'), 'SignInPage'),
});

interface SignInSearch {
  /** The path to open after the sign-in. */
  readonly back?: string | undefined;
  /** Why the external provider led back here. */
  readonly refused?: ProviderRefusal | undefined;
}

const consent = createRoute({
  getParentRoute: () => root,
  path: '/connect/$request',
  component: lazyRouteComponent(() => import('../pages/consent-page.tsx'), 'ConsentPage'),
});

/** An authorization server sends the browser back to here. */
const oauthCallback = createRoute({
  getParentRoute: () => root,
  path: oauthCallbackPath,
  component: lazyRouteComponent(() => import('../pages/oauth-callback-page.tsx'), 'OauthCallbackPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('../pages/invitation-page.tsx'), 'InvitationPage'),
});

const workspace = createRoute({ getParentRoute: () => root, path: '/w/$workspace', component: Frame });

const home = createRoute({
  getParentRoute: () => workspace,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/home-page.tsx'), 'HomePage'),
});

const skills = createRoute({
  getParentRoute: () => workspace,
  path: '/skills',
  validateSearch: readSkillsSearch,
  component: lazyRouteComponent(() => import('../pages/skills-page.tsx'), 'SkillsPage'),
});

const skill = createRoute({
  getParentRoute: () => workspace,
  path: '/skills/$skill',
  validateSearch: readSkillSearch,
  component: lazyRouteComponent(() => import('../pages/skill-page.tsx'), 'SkillPage'),
});

const roles = createRoute({
  getParentRoute: () => workspace,
  path: '/roles',
  validateSearch: ({ panel, add, skills, roles }: Record<string, unknown>): RolesSearch => ({
    ...(typeof panel === 'string' && { panel }),
    ...(add === true && { add }),
    ...(skills !== undefined && skills !== '' && { skills: String(skills).slice(0, 100) }),
    ...(roles !== undefined && roles !== '' && { roles: String(roles).slice(0, 100) }),
  }),
  component: lazyRouteComponent(() => import('../pages/roles-page.tsx'), 'RolesPage'),
});

interface RolesSearch {
  /** The role whose panel is open. */
  readonly panel?: string | undefined;
  readonly add?: boolean | undefined;
  /** Filters of both sides of the matrix, by name. */
  readonly skills?: string | undefined;
  readonly roles?: string | undefined;
}

const general = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/general',
  validateSearch: ({ create }: Record<string, unknown>): { create?: boolean | undefined } =>
    create === true ? { create } : {},
  component: lazyRouteComponent(() => import('../pages/general-page.tsx'), 'GeneralPage'),
});

const members = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/members',
  validateSearch: ({ panel, add }: Record<string, unknown>): MembersSearch => ({
    ...(typeof panel === 'string' && { panel }),
    ...(add === true && { add }),
  }),
  component: lazyRouteComponent(() => import('../pages/members-page.tsx'), 'MembersPage'),
});

interface MembersSearch {
  /** The member whose panel is open. */
  readonly panel?: string | undefined;
  readonly add?: boolean | undefined;
}

const activity = createRoute({
  getParentRoute: () => workspace,
  path: '/activity',
  validateSearch: ({ filter }: Record<string, unknown>): { filter?: string | undefined } =>
    filter === undefined || filter === '' ? {} : { filter: String(filter).slice(0, 100) },
  component: lazyRouteComponent(() => import('../pages/activity-page.tsx'), 'ActivityPage'),
});

const mcpServers = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/mcp-servers',
  validateSearch: ({ panel, add, filter }: Record<string, unknown>): McpServersSearch => ({
    ...(typeof panel === 'string' && { panel }),
    ...(add === true && { add }),
    ...(filter !== undefined && filter !== '' && { filter: String(filter).slice(0, 100) }),
  }),
  component: lazyRouteComponent(() => import('../pages/mcp-servers-page.tsx'), 'McpServersPage'),
});

interface McpServersSearch {
  /** The MCP server whose panel is open. */
  readonly panel?: string | undefined;
  readonly add?: boolean | undefined;
  readonly filter?: string | undefined;
}

const runtimes = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/runtimes',
  validateSearch: ({ panel, add }: Record<string, unknown>): RuntimesSearch => ({
    ...(typeof panel === 'string' && { panel }),
    ...(add === true && { add }),
  }),
  component: lazyRouteComponent(() => import('../pages/runtimes-page.tsx'), 'RuntimesPage'),
});

interface RuntimesSearch {
  /** The runtime whose panel is open. */
  readonly panel?: string | undefined;
  readonly add?: boolean | undefined;
}

const usage = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/usage',
  validateSearch: ({ range }: Record<string, unknown>): UsageSearch => {
    const found = usageRangeNames.find((name) => name === range);
    return found === undefined ? {} : { range: found };
  },
  component: lazyRouteComponent(() => import('../pages/usage-page.tsx'), 'UsagePage'),
});

const usageRangeNames = ['24h', '7d', '30d'] as const;

interface UsageSearch {
  readonly range?: (typeof usageRangeNames)[number] | undefined;
}

const integrations = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/integrations',
  validateSearch: ({ panel }: Record<string, unknown>): { panel?: string | undefined } =>
    typeof panel === 'string' ? { panel } : {},
  component: lazyRouteComponent(() => import('../pages/integrations-page.tsx'), 'IntegrationsPage'),
});

const apiKeys = createRoute({
  getParentRoute: () => workspace,
  path: '/profile/api-keys',
  validateSearch: ({ panel, add }: Record<string, unknown>): ApiKeysSearch => ({
    ...(typeof panel === 'string' && { panel }),
    ...(add === true && { add }),
  }),
  component: lazyRouteComponent(() => import('../pages/api-keys-page.tsx'), 'ApiKeysPage'),
});

interface ApiKeysSearch {
  /** The key whose panel is open. */
  readonly panel?: string | undefined;
  readonly add?: boolean | undefined;
}

const connectedAgents = createRoute({
  getParentRoute: () => workspace,
  path: '/profile/connected-agents',
  validateSearch: ({ panel }: Record<string, unknown>): ConnectedAgentsSearch => ({
    ...(typeof panel === 'string' && { panel }),
  }),
  component: lazyRouteComponent(() => import('../pages/connected-agents-page.tsx'), 'ConnectedAgentsPage'),
});

interface ConnectedAgentsSearch {
  /** The agent whose panel is open. */
  readonly panel?: string | undefined;
}

const account = createRoute({
  getParentRoute: () => workspace,
  path: '/profile/account',
  component: lazyRouteComponent(() => import('../pages/account-page.tsx'), 'AccountPage'),
});

const appearance = createRoute({
  getParentRoute: () => workspace,
  path: '/profile/appearance',
  component: lazyRouteComponent(() => import('../pages/appearance-page.tsx'), 'AppearancePage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...[start, connect, consent, invitation, signIn],
    workspace.addChildren([
      home,
      general,
      members,
      skills,
      skill,
      roles,
      mcpServers,
      apiKeys,
      connectedAgents,
      account,
      appearance,
    ]),
    workspace.addChildren([
      home,
      general,
      members,
      mcpServers,
      runtimes,
      apiKeys,
      connectedAgents,
      account,
      appearance,
    ]),
    workspace.addChildren([home, mcpServers, usage, apiKeys, connectedAgents, account, appearance]),
    workspace.addChildren([home, activity, mcpServers, usage, apiKeys, connectedAgents, account, appearance]),
    ...[start, connect, consent, oauthCallback, invitation, signIn],
    workspace.addChildren([home, mcpServers, integrations, apiKeys, connectedAgents, account, appearance]),
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
  // A place sees only what its validateSearch returned.
  search: { strict: true },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
