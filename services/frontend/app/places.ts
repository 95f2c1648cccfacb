import type { IconName } from '../components/icon.tsx';

interface NamedPlace {
  readonly title: string;
  readonly to: '/w/$workspace' | `/w/$workspace/${string}`;
  readonly icon: IconName;
  /** Home is behind the mark; the top bar has the places of work; settings and profile have a navigation of their own. */
  readonly area: 'home' | 'work' | 'settings' | 'profile';
  /** The key after g. */
  readonly key: string | null;
  /** A phone has it in its bar, which has room for four and a menu of the others. */
  readonly inBar?: true;
  /** What a person begins there, with `add` in the search of its address. */
  readonly add?: { readonly title: string; readonly right: 'mayEdit' | 'mayConfigure' | null };
}

/**
 * The places that the navigations, the shortcuts and the palette reach, in their order. A place is one row here and one
 * lazy route in router.tsx.
 */
export const places = [
  { title: 'Home', to: '/w/$workspace', icon: 'home', area: 'home', key: 'h', inBar: true },
  {
    ...{ title: 'Skills', to: '/w/$workspace/skills', icon: 'skill', area: 'work', key: 's', inBar: true },
    add: { title: 'Create skill', right: 'mayEdit' },
  },
  {
    ...{ title: 'Roles', to: '/w/$workspace/roles', icon: 'role', area: 'work', key: 'r' },
    add: { title: 'Create role', right: 'mayEdit' },
  },
  { title: 'Activity', to: '/w/$workspace/activity', icon: 'activity', area: 'work', key: 'a' },
  {
    ...{ title: 'General', to: '/w/$workspace/settings/general', icon: 'settings', area: 'settings', key: 'w' },
    add: { title: 'Create workspace', right: null },
  },
  {
    ...{ title: 'Members', to: '/w/$workspace/settings/members', icon: 'members', area: 'settings', key: 'e' },
    add: { title: 'Invite people', right: 'mayConfigure' },
  },
  {
    ...{ title: 'MCP servers', to: '/w/$workspace/settings/mcp-servers', icon: 'server', area: 'settings' },
    ...{ key: 'm', inBar: true, add: { title: 'Add MCP server', right: 'mayConfigure' } },
  },
  {
    ...{ title: 'Runtimes', to: '/w/$workspace/settings/runtimes', icon: 'runtime', area: 'settings', key: 'n' },
    add: { title: 'Register runtime', right: 'mayConfigure' },
  },
  {
    ...{ title: 'Integrations', to: '/w/$workspace/settings/integrations', icon: 'integration', area: 'settings' },
    key: 'i',
  },
  { title: 'Usage', to: '/w/$workspace/settings/usage', icon: 'usage', area: 'settings', key: 'u' },
  { title: 'Account', to: '/w/$workspace/profile/account', icon: 'person', area: 'profile', key: 'p' },
  {
    ...{ title: 'API keys', to: '/w/$workspace/profile/api-keys', icon: 'key', area: 'profile', key: 'k', inBar: true },
    add: { title: 'Create API key', right: null },
  },
  {
    ...{ title: 'Connected agents', to: '/w/$workspace/profile/connected-agents', icon: 'agent', area: 'profile' },
    key: 'c',
  },
  { title: 'Appearance', to: '/w/$workspace/profile/appearance', icon: 'theme', area: 'profile', key: 't' },
] as const satisfies readonly NamedPlace[];

export const areaTitles = { settings: 'Settings', profile: 'Profile' } as const;

export function placesOf(area: NamedPlace['area']) {
  return places.filter((place) => place.area === area);
}

/** The area with a navigation of its own that a path lies in. */
export function areaOf(path: string): keyof typeof areaTitles | null {
  const [, , , area] = path.split('/');
  return area === 'settings' || area === 'profile' ? area : null;
}
