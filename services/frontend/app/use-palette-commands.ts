import { useNavigate } from '@tanstack/react-router';
import { showToast } from '../components/toast.tsx';
import { signOut } from '../graphql/account.ts';
import type { PaletteEntry, PaletteGroup } from './palette-entry.ts';
import { places } from './places.ts';
import { chooseTheme, themes, useTheme } from './theme.ts';
import type { Place } from './workspace.ts';

interface Commands {
  readonly place: Place | null;
  /** Lists the MCP servers that can be restarted. */
  readonly onRestart: () => void;
  readonly onShortcuts: () => void;
}

/** What the palette knows without asking: places, actions that the person may take, workspaces and themes. */
export function usePaletteCommands(commands: Commands): readonly PaletteGroup[] {
  const { place } = commands;
  const navigate = useNavigate();
  const chosen = useTheme();
  const actions = useActions(commands);
  const params = { workspace: place?.workspace.id ?? '' };
  const placeEntries = places.map(({ title, to, icon, key }) => ({
    ...{ id: to, title, icon, keys: `g ${key}` },
    run: () => navigate({ to, params }),
  }));
  const others = (place?.viewer.memberships ?? []).filter(({ workspace }) => workspace.id !== params.workspace);
  return [
    { title: 'Places', entries: place === null ? [] : placeEntries },
    { title: 'Actions', entries: actions },
    {
      title: 'Workspaces',
      entries: others.map(({ workspace }) => ({
        ...{ id: workspace.id, title: `Switch to ${workspace.name}`, icon: 'home' },
        run: () => navigate({ to: '/w/$workspace', params: { workspace: workspace.id } }),
      })),
    },
    {
      title: 'Theme',
      entries: themes.map((theme) => ({
        ...{ id: `theme ${theme}`, title: `Theme: ${theme}`, icon: 'theme', isCurrent: theme === chosen },
        run: () => chooseTheme(theme),
      })),
    },
  ];
}

function useActions({ place, onRestart, onShortcuts }: Commands): readonly PaletteEntry[] {
  const navigate = useNavigate();
  const params = { workspace: place?.workspace.id ?? '' };
  const add = { params, search: { add: true } } as const;
  const shortcuts: PaletteEntry = {
    id: 'shortcuts',
    title: 'Keyboard shortcuts',
    icon: 'search',
    keys: '?',
    run: onShortcuts,
  };
  if (place === null) return [shortcuts];
  const { mayEdit, mayConfigure } = place;
  const create: readonly (PaletteEntry | false)[] = [
    mayEdit && {
      ...{ id: 'create skill', title: 'Create skill', icon: 'plus' },
      run: () => navigate({ to: '/w/$workspace/skills', ...add }),
    },
    mayEdit && {
      ...{ id: 'create role', title: 'Create role', icon: 'plus' },
      run: () => navigate({ to: '/w/$workspace/roles', ...add }),
    },
    mayConfigure && {
      ...{ id: 'add mcp server', title: 'Add MCP server', icon: 'plus' },
      run: () => navigate({ to: '/w/$workspace/settings/mcp-servers', ...add }),
    },
    mayConfigure && {
      ...{ id: 'restart', title: 'Restart MCP server…', icon: 'server', staysOpen: true },
      run: onRestart,
    },
    mayConfigure && {
      ...{ id: 'register runtime', title: 'Register runtime', icon: 'plus' },
      run: () => navigate({ to: '/w/$workspace/settings/runtimes', ...add }),
    },
    mayConfigure && {
      ...{ id: 'invite people', title: 'Invite people', icon: 'members' },
      run: () => navigate({ to: '/w/$workspace/settings/members', ...add }),
    },
    {
      ...{ id: 'create api key', title: 'Create API key', icon: 'plus' },
      run: () => navigate({ to: '/w/$workspace/profile/api-keys', ...add }),
    },
    {
      ...{ id: 'create workspace', title: 'Create workspace', icon: 'plus' },
      run: () => navigate({ to: '/w/$workspace/settings/general', params, search: { create: true } }),
    },
    shortcuts,
    {
      ...{ id: 'sign out', title: 'Sign out', icon: 'person' },
      run: () => signOut().catch(() => showToast('You are still signed in: the backend does not answer.')),
    },
  ];
  return create.filter((entry) => entry !== false);
}
