import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { classNames } from './class-names.ts';

export interface Tab {
  readonly title: string;
  readonly content: ReactNode;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** The number of the shown tab, if a place has it in its address. */
  readonly shown?: number;
  readonly onShow?: (tab: number) => void;
}

/** Parts of one thing, of which one is shown. The arrow keys lead from one to the next. */
export function Tabs({ label, tabs, ...at }: TabsProps) {
  const [own, setOwn] = useState(0);
  const { shown: chosen = own, onShow: setChosen = setOwn } = at;
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const shown = tabs[chosen] ?? tabs[0];
  const onKeyDown = (event: KeyboardEvent) => {
    const next = tabAfter(event.key, chosen, tabs.length);
    if (next === null) return;
    event.preventDefault();
    setChosen(next);
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus();
  };
  return (
    <div className="grid gap-4">
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        onKeyDown={onKeyDown}
        className="flex gap-4 border-border border-b"
      >
        {tabs.map((tab, at) => (
          <button
            key={tab.title}
            type="button"
            role="tab"
            id={`${id}-${at}`}
            aria-selected={tab === shown}
            aria-controls={`${id}-panel`}
            tabIndex={tab === shown ? 0 : -1}
            onClick={() => setChosen(at)}
            className={classNames(
              '-mb-px h-11 border-b-2 font-medium text-13 transition-colors tablet:h-8',
              tab === shown ? 'border-accent text-text' : 'border-transparent text-quiet hover:text-text',
            )}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${tabs.indexOf(shown ?? noTab)}`}>
        {shown?.content}
      </div>
    </div>
  );
}

const noTab: Tab = { title: '', content: null };

function tabAfter(key: string, present: number, count: number): number | null {
  switch (key) {
    case 'ArrowRight':
      return (present + 1) % count;
    case 'ArrowLeft':
      return (present + count - 1) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
