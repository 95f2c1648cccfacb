import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { findProviderRefusal, type ProviderRefusal } from '../../contracts/provider-refusal.ts';
import { FailedPage } from './failed-page.tsx';
import { Frame } from './frame.tsx';
import { oauthCallbackPath } from './oauth-answer.ts';
import { readSkillSearch, readSkillsSearch } from './skill-search.ts';
import { StartPage } from './start-page.tsx';
import { findUsageRange, type UsageRange } from './usage-range.ts';

const root = createRootRoute({
  notFoundComponent: lazyRouteComponent(() => import('../pages/not-found-page.tsx'), 'NotFoundPage'),
});

const start = createRoute({ getParentRoute: () => root, path: '/', component: StartPage });

const connect = createRoute({
  getParentRoute: () => root,
  path: '/connect',
  component: lazyRouteComponent(() => import('../pages/consent/connect-page.tsx'), 'ConnectPage'),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ back, refused }: Record<string, unknown>): SignInSearch => ({
    ...(typeof back === 'string' && { back }),
    ...(findProviderRefusal(refused) !== undefined && { refused: findProviderRefusal(refused) }),
  }),
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
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
  component: lazyRouteComponent(() => import('../pages/consent/consent-page.tsx'), 'ConsentPage'),
});

/** An authorization server sends the browser back to here. */
const oauthCallback = createRoute({
  getParentRoute: () => root,
  path: oauthCallbackPath,
  component: lazyRouteComponent(() => import('../pages/consent/oauth-callback-page.tsx'), 'OauthCallbackPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('../pages/sign-in/invitation-page.tsx'), 'InvitationPage'),
});

const confirmAddress = createRoute({
  getParentRoute: () => root,
  path: '/confirm-address',
  component: lazyRouteComponent(() => import('../pages/account/confirm-address-page.tsx'), 'ConfirmAddressPage'),
});

const workspace = createRoute({ getParentRoute: () => root, path: '/w/$workspace', component: Frame });

const home = createRoute({
  getParentRoute: () => workspace,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/home/home-page.tsx'), 'HomePage'),
});

const skills = createRoute({
  getParentRoute: () => workspace,
  path: '/skills',
  validateSearch: readSkillsSearch,
  component: lazyRouteComponent(() => import('../pages/skills/skills-page.tsx'), 'SkillsPage'),
});

const skill = createRoute({
  getParentRoute: () => workspace,
  path: '/skills/$skill',
  validateSearch: readSkillSearch,
  component: lazyRouteComponent(() => import('../pages/skills/skill-page.tsx'), 'SkillPage'),
});

const roles = createRoute({
  getParentRoute: () => workspace,
  path: '/roles',
  validateSearch: ({ skills, roles, ...panel }: Record<string, unknown>): RolesSearch => ({
    ...readPanelSearch(panel),
    ...(skills !== undefined && skills !== '' && { skills: String(skills).slice(0, 100) }),
    ...(roles !== undefined && roles !== '' && { roles: String(roles).slice(0, 100) }),
  }),
  component: lazyRouteComponent(() => import('../pages/roles/roles-page.tsx'), 'RolesPage'),
});

interface RolesSearch extends PanelSearch {
  /** Filters of both sides of the matrix, by name. */
  readonly skills?: string | undefined;
  readonly roles?: string | undefined;
}

const general = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/general',
  validateSearch: ({ add }: Record<string, unknown>): { add?: boolean | undefined } => (add === true ? { add } : {}),
  component: lazyRouteComponent(() => import('../pages/workspace/general-page.tsx'), 'GeneralPage'),
});

const members = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/members',
  validateSearch: readPanelSearch,
  component: lazyRouteComponent(() => import('../pages/members/members-page.tsx'), 'MembersPage'),
});

const activity = createRoute({
  getParentRoute: () => workspace,
  path: '/activity',
  validateSearch: ({ filter }: Record<string, unknown>): { filter?: string | undefined } =>
    filter === undefined || filter === '' ? {} : { filter: String(filter).slice(0, 100) },
  component: lazyRouteComponent(() => import('../pages/activity/activity-page.tsx'), 'ActivityPage'),
});

const mcpServers = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/mcp-servers',
  validateSearch: ({ filter, tab, ...panel }: Record<string, unknown>): McpServersSearch => ({
    ...readPanelSearch(panel),
    ...(tab !== undefined && tab !== '' && { tab: String(tab).slice(0, 100) }),
    ...(filter !== undefined && filter !== '' && { filter: String(filter).slice(0, 100) }),
  }),
  component: lazyRouteComponent(() => import('../pages/mcp-servers/mcp-servers-page.tsx'), 'McpServersPage'),
});

interface McpServersSearch extends PanelSearch {
  /** The open tab of the panel. */
  readonly tab?: string | undefined;
  readonly filter?: string | undefined;
}

const runtimes = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/runtimes',
  validateSearch: readPanelSearch,
  component: lazyRouteComponent(() => import('../pages/runtimes/runtimes-page.tsx'), 'RuntimesPage'),
});

const usage = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/usage',
  validateSearch: ({ range }: Record<string, unknown>): UsageSearch => {
    const found = findUsageRange(range);
    return found === undefined ? {} : { range: found };
  },
  component: lazyRouteComponent(() => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
});

interface UsageSearch {
  readonly range?: UsageRange | undefined;
}

const integrations = createRoute({
  getParentRoute: () => workspace,
  path: '/settings/integrations',
  validateSearch: readPanelSearch,
  component: lazyRouteComponent(() => import('../pages/integrations/integrations-page.tsx'), 'IntegrationsPage'),
});

const apiKeys = createRoute({
  getParentRoute: () => workspace,
  path: '/profile/api-keys',
  validateSearch: readKeySearch,
  component: lazyRouteComponent(() => import('../pages/keys/api-keys-page.tsx'), 'ApiKeysPage'),
});

const connectedAgents = createRoute({
  getParentRoute: () => workspace,
  path: '/profile/connected-agents',
  validateSearch: readKeySearch,
  component: lazyRouteComponent(() => import('../pages/keys/connected-agents-page.tsx'), 'ConnectedAgentsPage'),
});

const account = createRoute({
  getParentRoute: () => workspace,
  path: '/profile/account',
  component: lazyRouteComponent(() => import('../pages/account/account-page.tsx'), 'AccountPage'),
});

const appearance = createRoute({
  getParentRoute: () => workspace,
  path: '/profile/appearance',
  component: lazyRouteComponent(() => import('../pages/account/appearance-page.tsx'), 'AppearancePage'),
});

/** In the development server only: the build leaves it out. */
const components = import.meta.env.DEV
  ? createRoute({
      getParentRoute: () => root,
      path: '/dev/components',
      component: lazyRouteComponent(() => import('../pages/components-page.tsx'), 'ComponentsPage'),
    })
  : null;

/** What is open in a list: the panel of one entry, or the form that adds one. */
interface PanelSearch {
  readonly panel?: string | undefined;
  readonly add?: boolean | undefined;
}

function readPanelSearch({ panel, add }: Record<string, unknown>): PanelSearch {
  return { ...(typeof panel === 'string' && { panel }), ...(add === true && { add }) };
}

/** The panel of a key has a tab that explains what an agent with it can use. */
function readKeySearch({ tab, ...panel }: Record<string, unknown>): PanelSearch & { tab?: 'explain' | undefined } {
  return { ...readPanelSearch(panel), ...(tab === 'explain' && { tab }) };
}

export const router = createRouter({
  routeTree: root.addChildren([
    ...[start, signIn, invitation, confirmAddress, connect, consent, oauthCallback],
    ...(components === null ? [] : [components]),
    workspace.addChildren([
      ...[home, skills, skill, roles, activity],
      ...[general, members, mcpServers, runtimes, integrations, usage],
      ...[account, apiKeys, connectedAgents, appearance],
    ]),
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: FailedPage,
  scrollRestoration: true,
  // A place sees only what its validateSearch returned.
  search: { strict: true },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
