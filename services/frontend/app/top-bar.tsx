import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, startTransition, useEffect, useState } from 'react';
import { Button, IconButton } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { LiveBadge } from '../components/live-badge.tsx';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../components/menu.tsx';
import { StatusDot } from '../components/status-dot.tsx';
import { showToast } from '../components/toast.tsx';
import { signOut } from '../graphql/account.ts';
import { useConnection } from '../graphql/live.ts';
import { PlaceItems, WorkNavigation } from './navigation.tsx';
import { areaTitles, places } from './places.ts';
import { useShortcuts } from './shortcuts.ts';
import { chooseTheme, themes, useTheme } from './theme.ts';
import { useConcerns } from './use-concerns.ts';
import type { Place, Viewer } from './workspace.ts';

const loadPalette = () => import('./palette.tsx');
const Palette = lazy(() => loadPalette().then(({ Palette: component }) => ({ default: component })));
const ShortcutList = lazy(() =>
  import('./shortcut-list.tsx').then(({ ShortcutList: component }) => ({ default: component })),
);

/** The palette opens at once, because it is loaded when the first place has been shown. */
const loadPaletteAfterMs = 1000;

interface Opened {
  readonly dialog: 'palette' | 'shortcuts';
  readonly at: number;
}

/** The mark, the workspace, the places of work, the search and the person. */
export function TopBar({ place, viewer }: { readonly place: Place | null; readonly viewer: Viewer | null }) {
  const [open, setOpen] = useState<Opened | null>(null);
  // A dialog says a moment later that it is closed. By then a key may have opened it again, or the other one.
  const close = (closed: Opened) => setOpen((present) => (present === closed ? null : present));
  // As a transition: React delays by 300 ms what replaces the fallback of a Suspense.
  const show = (dialog: Opened['dialog']) => startTransition(() => setOpen({ dialog, at: performance.now() }));
  const togglePalette = () =>
    open?.dialog === 'palette' && document.querySelector('dialog[open]') !== null ? setOpen(null) : show('palette');
  const navigate = useNavigate();
  const connection = useConnection();
  const { workspace: id = '' } = useParams({ strict: false });
  const goTo = places.flatMap(({ key, to }) =>
    key === null ? [] : [[`g ${key}`, () => void navigate({ to, params: { workspace: id } })] as const],
  );
  useShortcuts({
    ...Object.fromEntries(goTo),
    'mod+k': togglePalette,
    '?': () => show('shortcuts'),
  });
  useEffect(() => {
    // It is loaded again when it is opened, where this fails.
    const timer = setTimeout(() => void loadPalette().catch(() => undefined), loadPaletteAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <header className="sticky top-0 z-10 border-border border-b bg-background">
      <div className="mx-auto flex h-12 max-w-content items-center gap-1 px-2 tablet:px-4">
        <Link
          to="/w/$workspace"
          params={{ workspace: id }}
          aria-label="Home"
          title="Home"
          className="inline-flex size-11 shrink-0 items-center justify-center rounded-control text-accent hover:bg-hover tablet:size-8"
        >
          <Icon name="mark" />
        </Link>
        {place === null || viewer === null ? (
          <span className="h-3 w-24 animate-late rounded-control bg-active" />
        ) : (
          <WorkspaceMenu place={place} viewer={viewer} />
        )}
        <WorkNavigation workspace={id} />
        <span className="flex-1" />
        {(connection === 'lost' || connection === 'stopped') && <LiveBadge connection={connection} />}
        <Button look="quiet" icon="search" onClick={() => show('palette')}>
          <span className="sr-only tablet:not-sr-only">Search</span>
          <kbd className="hidden text-12 text-quiet tablet:inline">{modKey}K</kbd>
        </Button>
        <Attention place={place} />
        {viewer !== null && <PersonMenu viewer={viewer} workspace={id} />}
      </div>
      <Suspense>
        {open?.dialog === 'palette' && (
          <Palette key={open.at} place={place} onClose={() => close(open)} onShortcuts={() => show('shortcuts')} />
        )}
        {open?.dialog === 'shortcuts' && <ShortcutList key={open.at} onClose={() => close(open)} />}
      </Suspense>
    </header>
  );
}

/** How many things need the person. Home says which. */
function Attention({ place }: { readonly place: Place | null }) {
  const { concerns, hasMore } = useConcerns(place);
  const mine = (concerns ?? []).filter(({ isMine }) => isMine);
  if (place === null || mine.length === 0) return null;
  const isBad = mine.some(({ tone }) => tone === 'bad');
  const words = mine.length === 1 ? '1 thing needs you' : `${hasMore ? 'At least ' : ''}${mine.length} things need you`;
  return (
    <Link
      to="/w/$workspace"
      params={{ workspace: place.workspace.id }}
      title={words}
      aria-label={words}
      className="inline-flex h-11 items-center rounded-control px-2 font-medium text-13 hover:bg-hover tablet:h-8"
    >
      <StatusDot tone={isBad ? 'bad' : 'warn'}>{`${mine.length}${hasMore ? '+' : ''}`}</StatusDot>
    </Link>
  );
}

export const modKey = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl ';

function WorkspaceMenu({ place, viewer }: { readonly place: Place; readonly viewer: Viewer }) {
  const navigate = useNavigate();
  return (
    <Menu
      trigger={
        <Button look="quiet" className="min-w-0">
          <span className="truncate text-text">{place.workspace.name}</span>
          <Icon name="chevron" />
        </Button>
      }
    >
      <MenuLabel>Workspaces</MenuLabel>
      {viewer.memberships.map(({ workspace }) => (
        <MenuItem
          key={workspace.id}
          isCurrent={workspace.id === place.workspace.id}
          onSelect={() => void navigate({ to: '/w/$workspace', params: { workspace: workspace.id } })}
        >
          {workspace.name}
        </MenuItem>
      ))}
      <MenuItem
        onSelect={() =>
          void navigate({
            to: '/w/$workspace/settings/general',
            params: { workspace: place.workspace.id },
            search: { add: true },
          })
        }
      >
        Create workspace…
      </MenuItem>
      <MenuLine />
      <MenuLabel>{areaTitles.settings}</MenuLabel>
      <PlaceItems area="settings" workspace={place.workspace.id} />
    </Menu>
  );
}

function PersonMenu({ viewer, workspace }: { readonly viewer: Viewer; readonly workspace: string }) {
  const theme = useTheme();
  return (
    <Menu trigger={<IconButton label={`You: ${viewer.name}`} icon="person" />}>
      <MenuLabel>{viewer.name}</MenuLabel>
      <PlaceItems area="profile" workspace={workspace} />
      <MenuLine />
      <MenuLabel>Theme</MenuLabel>
      {themes.map((one) => (
        <MenuItem key={one} isCurrent={one === theme} onSelect={() => chooseTheme(one)}>
          {`${one.charAt(0).toUpperCase()}${one.slice(1)}`}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem
        onSelect={() => void signOut().catch(() => showToast('You are still signed in: the backend does not answer.'))}
      >
        Sign out
      </MenuItem>
    </Menu>
  );
}
