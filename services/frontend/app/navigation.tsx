import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { classNames } from '../components/class-names.ts';
import { Icon } from '../components/icon.tsx';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../components/menu.tsx';
import { areaOf, areaTitles, places, placesOf } from './places.ts';

const linkClass =
  'flex items-center rounded-control text-quiet transition-colors hover:bg-hover hover:text-text data-[status=active]:bg-active data-[status=active]:text-text';

interface NavigationProps {
  readonly workspace: string;
}

/** The places of work in the top bar. A phone has them in its bottom bar. */
export function WorkNavigation({ workspace }: NavigationProps) {
  return (
    <nav aria-label="Places" className="hidden tablet:block">
      <ul className="flex gap-1">
        {placesOf('work').map(({ title, to }) => (
          <li key={to}>
            <Link to={to} params={{ workspace }} className={classNames(linkClass, 'h-8 px-3 font-medium text-13')}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The places of the settings or of the profile, beside them; above them on a narrow screen. */
export function SideNavigation({ workspace }: NavigationProps) {
  const area = useLocation({ select: ({ pathname }) => areaOf(pathname) });
  if (area === null) return null;
  return (
    <nav aria-label={areaTitles[area]} className="hidden min-w-0 tablet:block desktop:w-44 desktop:self-stretch">
      <ul className="flex gap-1 overflow-x-auto desktop:sticky desktop:top-18 desktop:grid">
        <li aria-hidden="true" className="hidden px-2 pb-1 text-12 text-quiet desktop:block">
          {areaTitles[area]}
        </li>
        {placesOf(area).map(({ title, to, icon }) => (
          <li key={to}>
            <Link
              to={to}
              params={{ workspace }}
              activeOptions={{ includeSearch: false }}
              className={classNames(linkClass, 'h-8 gap-2 whitespace-nowrap px-2 text-13')}
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

/** On a phone: the places that a thumb reaches, and a menu of the others. */
export function BottomBar({ workspace }: NavigationProps) {
  const itemClass = classNames(linkClass, 'h-14 w-full flex-col justify-center gap-1 text-12');
  return (
    <nav
      aria-label="Places"
      className="fixed inset-x-0 bottom-0 z-10 border-border border-t bg-background tablet:hidden"
    >
      <ul className="grid auto-cols-fr grid-flow-col">
        {places
          .filter((place) => 'inBar' in place)
          .map(({ title, to, icon, area }) => (
            <li key={to}>
              <Link
                to={to}
                params={{ workspace }}
                activeOptions={{ exact: area === 'home', includeSearch: false }}
                className={itemClass}
              >
                <Icon name={icon} />
                {title}
              </Link>
            </li>
          ))}
        <li>
          <Menu
            trigger={
              <button type="button" className={itemClass}>
                <Icon name="more" />
                More
              </button>
            }
          >
            <PlaceItems area="work" workspace={workspace} isRest />
            <MenuLabel>{areaTitles.settings}</MenuLabel>
            <PlaceItems area="settings" workspace={workspace} isRest />
            <MenuLine />
            <MenuLabel>{areaTitles.profile}</MenuLabel>
            <PlaceItems area="profile" workspace={workspace} isRest />
          </Menu>
        </li>
      </ul>
    </nav>
  );
}

/** The places of an area as items of a menu; `isRest`: without those that the bottom bar has. */
export function PlaceItems({
  area,
  workspace,
  isRest = false,
}: NavigationProps & { readonly area: 'work' | 'settings' | 'profile'; readonly isRest?: boolean }) {
  const navigate = useNavigate();
  return placesOf(area)
    .filter((place) => !(isRest && 'inBar' in place))
    .map(({ title, to }) => (
      <MenuItem key={to} onSelect={() => void navigate({ to, params: { workspace } })}>
        {title}
      </MenuItem>
    ));
}
