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
  const shortcuts: PaletteEntry = {
    id: 'shortcuts',
    title: 'Keyboard shortcuts',
    icon: 'search',
    keys: '?',
    run: onShortcuts,
  };
  if (place === null) return [shortcuts];
  const create = places.flatMap((one): PaletteEntry[] => {
    if (!('add' in one) || (one.add.right !== null && !place[one.add.right])) return [];
    const { title } = one.add;
    const run = () => navigate({ to: one.to, params: { workspace: place.workspace.id }, search: { add: true } });
    return [{ id: title, title, icon: 'plus', run }];
  });
  const restart: PaletteEntry = {
    ...{ id: 'restart', title: 'Restart MCP server…', icon: 'server', staysOpen: true, run: onRestart },
  };
  const leave: PaletteEntry = {
    ...{ id: 'sign out', title: 'Sign out', icon: 'person' },
    run: () => signOut().catch(() => showToast('You are still signed in: the backend does not answer.')),
  };
  return [...create, ...(place.mayConfigure ? [restart] : []), shortcuts, leave];
}
