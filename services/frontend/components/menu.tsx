import {
  cloneElement,
  createContext,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { ButtonProps } from './button.tsx';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';

type Close = (reason: 'chosen' | 'left') => void;

const CloseContext = createContext<Close>(() => undefined);

/** Actions behind a button. `trigger` is one button; it has the focus again when an action was chosen. */
export function Menu({
  trigger,
  children,
}: {
  readonly trigger: ReactElement<ButtonProps>;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close: Close = (reason) => {
    setOpen(false);
    if (reason === 'chosen') button.current?.focus();
  };
  return (
    <>
      {cloneElement(trigger, {
        ref: button,
        'aria-haspopup': 'menu',
        'aria-expanded': isOpen,
        onClick: (event) => {
          event.stopPropagation();
          setOpen(!isOpen);
        },
        onKeyDown: (event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          setOpen(true);
        },
      })}
      {isOpen && (
        <CloseContext value={close}>
          <MenuContent button={button}>{children}</MenuContent>
        </CloseContext>
      )}
    </>
  );
}

interface ContentProps {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly children: ReactNode;
}

/** In the browser's top layer, so that no table or panel cuts it off. */
function MenuContent({ button, children }: ContentProps) {
  const content = useRef<HTMLDivElement>(null);
  const latestClose = useRef<Close>(useContext(CloseContext));
  latestClose.current = useContext(CloseContext);
  useLayoutEffect(() => {
    const { current } = content;
    if (current === null || button.current === null) return;
    current.showPopover();
    placeBeside(current, button.current.getBoundingClientRect());
    itemsOf(current)[0]?.focus({ preventScroll: true });
  }, [button]);
  useEffect(() => {
    const leave = ({ target }: Event) => {
      const isInside =
        target instanceof Node && (content.current?.contains(target) || button.current?.contains(target));
      if (isInside !== true) latestClose.current('left');
    };
    const left = ['pointerdown', 'focusin', 'scroll', 'resize'] as const;
    for (const event of left) window.addEventListener(event, leave, true);
    return () => {
      for (const event of left) window.removeEventListener(event, leave, true);
    };
  }, [button]);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    event.stopPropagation();
    if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      return latestClose.current('chosen');
    }
    const next = itemAfter(itemsOf(event.currentTarget), event.key);
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <div
      ref={content}
      popover="manual"
      role="menu"
      tabIndex={-1}
      onClick={(event) => event.stopPropagation()}
      onKeyDown={onKeyDown}
      className="fixed inset-auto m-0 max-h-[80dvh] min-w-48 max-w-[90dvw] animate-appear overflow-y-auto rounded-control border border-border bg-surface p-1 text-text shadow-float"
    >
      {children}
    </div>
  );
}

/** The distances to the button and to the edge of the window. */
const gap = 4;
const edge = 8;

/** Below the button if there is room, else above it. */
function placeBeside(content: HTMLElement, button: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = content;
  const left = Math.max(edge, Math.min(button.left, window.innerWidth - width - edge));
  const below = button.bottom + gap;
  const isBelow = below + height + edge <= window.innerHeight;
  const top = isBelow ? below : Math.max(edge, button.top - gap - height);
  content.style.left = `${left}px`;
  content.style.top = `${top}px`;
}

function itemsOf(content: HTMLElement): HTMLElement[] {
  return [...content.querySelectorAll<HTMLElement>('[role="menuitem"]')];
}

/** The item that a key leads to: an arrow, Home, End, or the first letter of its text. */
function itemAfter(items: readonly HTMLElement[], key: string): HTMLElement | undefined {
  const present = items.findIndex((item) => item.matches(':focus'));
  if (key === 'ArrowDown') return items[(present + 1) % items.length];
  if (key === 'ArrowUp') return items.at(present <= 0 ? -1 : present - 1);
  if (key === 'Home') return items[0];
  if (key === 'End') return items.at(-1);
  if (key.length !== 1 || key === ' ') return undefined;
  const others = [...items.slice(present + 1), ...items.slice(0, present + 1)];
  return others.find((item) => item.textContent.trim().toLowerCase().startsWith(key.toLowerCase()));
}

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly children: ReactNode;
  readonly isDangerous?: boolean;
  /** Marks the present one of several choices. */
  readonly isCurrent?: boolean;
}

export function MenuItem({ onSelect, children, isDangerous = false, isCurrent = false }: MenuItemProps) {
  const close = useContext(CloseContext);
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      onPointerMove={({ currentTarget }) => currentTarget.focus({ preventScroll: true })}
      onClick={() => {
        close('chosen');
        onSelect();
      }}
      className={classNames(
        'flex h-11 w-full items-center justify-between gap-4 rounded-control px-2 text-left text-13 outline-none focus:bg-hover tablet:h-8',
        isDangerous && 'text-bad',
      )}
    >
      <span className="truncate">{children}</span>
      {isCurrent && <Icon name="check" className="text-accent" />}
    </button>
  );
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <div className="truncate px-2 py-1 text-12 text-quiet">{children}</div>;
}

export function MenuLine() {
  return <hr className="my-1 border-border border-t" />;
}
