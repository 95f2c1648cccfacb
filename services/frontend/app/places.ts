import type { IconName } from '../components/icon.tsx';

export interface NamedPlace {
  readonly title: string;
  readonly to:
    | '/w/$workspace'
    | '/w/$workspace/settings/mcp-servers'
    | '/w/$workspace/profile/api-keys'
    | '/w/$workspace/profile/connected-agents'
    | '/w/$workspace/profile/account'
    | '/w/$workspace/profile/appearance';
  readonly icon: IconName;
  /** After g. */
  readonly key: string | null;
  /** Its name in the bar of a phone, which has room for five; null: the palette and the menus reach it. */
  readonly onPhone: string | null;
}

/** The places that the navigation, the shortcuts and the palette reach. */
export const places: readonly NamedPlace[] = [
  { title: 'Home', to: '/w/$workspace', icon: 'home', key: 'h', onPhone: 'Home' },
  { title: 'MCP servers', to: '/w/$workspace/settings/mcp-servers', icon: 'server', key: 'm', onPhone: 'MCP servers' },
  { title: 'API keys', to: '/w/$workspace/profile/api-keys', icon: 'key', key: 'k', onPhone: 'API keys' },
  {
    title: 'Connected agents',
    to: '/w/$workspace/profile/connected-agents',
    icon: 'activity',
    key: 'c',
    onPhone: 'Agents',
  },
  { title: 'Account', to: '/w/$workspace/profile/account', icon: 'person', key: 'p', onPhone: 'Account' },
  { title: 'Appearance', to: '/w/$workspace/profile/appearance', icon: 'settings', key: 'a', onPhone: null },
];
