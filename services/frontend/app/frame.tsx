import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { Button, IconButton } from '../components/button.tsx';
import { classNames } from '../components/class-names.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Icon } from '../components/icon.tsx';
import { LiveBadge } from '../components/live-badge.tsx';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../components/menu.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Toasts } from '../components/toast.tsx';
import { signOut } from '../graphql/account.ts';
import { viewerQuery } from '../graphql/generated/operations.ts';
import { followChanges, useConnection } from '../graphql/live.ts';
import { useOperation } from '../graphql/use-operation.ts';
import { places } from './places.ts';
import { useShortcuts } from './shortcuts.ts';
import { chooseTheme, themes, useTheme } from './theme.ts';
import { type Place, PlaceContext, placeOf, rememberWorkspace, type Viewer } from './workspace.ts';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette: component }) => ({ default: component })));
const ShortcutList = lazy(() =>
  import('./shortcut-list.tsx').then(({ ShortcutList: component }) => ({ default: component })),
);

/** The frame around all places of a workspace. It is painted before any answer arrives. */
export function Frame() {
  const { workspace: id = '' } = useParams({ strict: false });
  const { data, error, retry } = useOperation(viewerQuery, {});
  const membership = data?.viewer.memberships.find(({ workspace }) => workspace.id === id);
  const place = data === null || membership === undefined ? null : placeOf(data.viewer, membership);
  const isMember = place !== null;
  useEffect(() => {
    if (!isMember) return;
    rememberWorkspace(id);
    return followChanges(id);
  }, [id, isMember]);
  return (
    <PlaceContext value={place}>
      <div className="grid min-h-dvh grid-rows-[auto_1fr] pb-14 desktop:pb-0">
        <TopBar place={place} viewer={data?.viewer ?? null} />
        <div className="mx-auto grid w-full max-w-content content-start gap-6 px-4 py-6 tablet:px-6 desktop:grid-cols-[auto_minmax(0,1fr)]">
          <SideNavigation workspace={id} />
          <main className="min-w-0">
            {place !== null ? (
              <Outlet />
            ) : error !== null ? (
              <ErrorState error={error} onRetry={retry} />
            ) : data === null ? (
              <Skeleton lines={5} />
            ) : (
              <EmptyState title="This workspace is not yours" action={<Link to="/">Open another workspace</Link>}>
                You are no member of the workspace {id}, or it does not exist. Its owners can invite you.
              </EmptyState>
            )}
          </main>
        </div>
        <BottomBar workspace={id} />
      </div>
      <Toasts />
    </PlaceContext>
  );
}

function TopBar({ place, viewer }: { readonly place: Place | null; readonly viewer: Viewer | null }) {
  const [open, setOpen] = useState<'palette' | 'shortcuts' | null>(null);
  // A dialog says a moment later that it is closed. By then a key may have opened the other one.
  const close = (closed: typeof open) => setOpen((present) => (present === closed ? null : present));
  const navigate = useNavigate();
  const connection = useConnection();
  const { workspace: id = '' } = useParams({ strict: false });
  const goTo = places.flatMap(({ key, to }) =>
    key === null ? [] : [[`g ${key}`, () => void navigate({ to, params: { workspace: id } })] as const],
  );
  useShortcuts({
    ...Object.fromEntries(goTo),
    'mod+k': () => setOpen(open === 'palette' ? null : 'palette'),
    '?': () => setOpen('shortcuts'),
  });
  return (
    <header className="sticky top-0 z-10 border-border border-b bg-background">
      <div className="mx-auto flex h-12 max-w-content items-center gap-2 px-2 tablet:px-4">
        {place === null || viewer === null ? (
          <span className="h-3 w-24 animate-late rounded-control bg-active" />
        ) : (
          <WorkspaceMenu place={place} viewer={viewer} />
        )}
        <span className="flex-1" />
        {connection === 'lost' && <LiveBadge />}
        <Button look="quiet" icon="search" onClick={() => setOpen('palette')}>
          <span className="sr-only tablet:not-sr-only">Search</span>
          <kbd className="hidden text-12 text-quiet tablet:inline">{modKey}K</kbd>
        </Button>
        {viewer !== null && <PersonMenu viewer={viewer} />}
      </div>
      <Suspense>
        {open === 'palette' && <Palette place={place} onClose={() => close('palette')} />}
        {open === 'shortcuts' && <ShortcutList onClose={() => close('shortcuts')} />}
      </Suspense>
    </header>
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
    </Menu>
  );
}

function PersonMenu({ viewer }: { readonly viewer: Viewer }) {
  const theme = useTheme();
  return (
    <Menu trigger={<IconButton label={`You: ${viewer.name}`} icon="person" />}>
      <MenuLabel>{viewer.name}</MenuLabel>
      <MenuLine />
      <MenuLabel>Theme</MenuLabel>
      {themes.map((one) => (
        <MenuItem key={one} isCurrent={one === theme} onSelect={() => chooseTheme(one)}>
          {`${one.charAt(0).toUpperCase()}${one.slice(1)}`}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem onSelect={() => void signOut()}>Sign out</MenuItem>
    </Menu>
  );
}

const linkClass =
  'flex items-center rounded-control text-quiet transition-colors hover:bg-hover hover:text-text data-[status=active]:bg-active data-[status=active]:text-text';

function SideNavigation({ workspace }: { readonly workspace: string }) {
  return (
    <nav aria-label="Places" className="hidden w-44 desktop:block">
      <ul className="sticky top-18 grid gap-1">
        {places.map(({ title, to, icon }) => (
          <li key={to}>
            <Link
              to={to}
              params={{ workspace }}
              activeOptions={{ exact: to === '/w/$workspace', includeSearch: false }}
              className={classNames(linkClass, 'h-8 gap-2 px-2 text-13')}
            >
              <Icon name={icon} />
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The same places on a small screen. */
function BottomBar({ workspace }: { readonly workspace: string }) {
  return (
    <nav
      aria-label="Places"
      className="fixed inset-x-0 bottom-0 z-10 border-border border-t bg-background desktop:hidden"
    >
      <ul className="mx-auto grid max-w-content grid-flow-col">
        {places
          .filter(({ onPhone }) => onPhone !== null)
          .map(({ onPhone, to, icon }) => (
            <li key={to}>
              <Link
                to={to}
                params={{ workspace }}
                activeOptions={{ exact: to === '/w/$workspace', includeSearch: false }}
                className={classNames(linkClass, 'h-14 flex-col justify-center gap-1 text-12')}
              >
                <Icon name={icon} />
                {onPhone}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  );
}
