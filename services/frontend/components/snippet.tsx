import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { classNames } from './class-names.ts';
import { CopyButton } from './copy-button.tsx';

/** A text to copy. One that `wraps` is seen as a whole. */
export function Snippet({ text, wraps = false }: { readonly text: string; readonly wraps?: boolean }) {
  return (
    <div className="relative overflow-hidden rounded-control border border-border bg-surface">
      <SnippetText text={text} wraps={wraps} />
    </div>
  );
}

export interface SnippetTab {
  readonly title: string;
  readonly about: string;
  readonly text: string;
}

/** One text for each client. Tabs as in the ARIA Authoring Practices: arrow keys change the selection. */
export function SnippetTabs({ label, tabs }: { readonly label: string; readonly tabs: readonly SnippetTab[] }) {
  const [selected, select] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const shown = tabs[selected];
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = (selected + step + tabs.length) % tabs.length;
    select(next);
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <div className="overflow-hidden rounded-control border border-border bg-surface">
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        onKeyDown={onKeyDown}
        className="flex flex-wrap gap-1 border-border border-b bg-sunken p-1"
      >
        {tabs.map(({ title }, index) => (
          <button
            key={title}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-selected={index === selected}
            aria-controls={`${id}-panel`}
            tabIndex={index === selected ? 0 : -1}
            onClick={() => select(index)}
            className={classNames(
              'h-9 rounded-control px-3 font-medium text-13 transition-colors tablet:h-7',
              index === selected ? 'bg-accent-soft text-accent' : 'text-quiet hover:text-text',
            )}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`} className="relative">
        {shown !== undefined && <SnippetText text={shown.text} about={shown.about} />}
      </div>
    </div>
  );
}

interface SnippetTextProps {
  readonly text: string;
  readonly about?: string;
  readonly wraps?: boolean;
}

function SnippetText({ text, about, wraps = false }: SnippetTextProps) {
  return (
    <>
      {about !== undefined && <p className="px-4 pt-3 pr-24 text-12 text-quiet">{about}</p>}
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        className={classNames('mr-24 overflow-x-auto py-3 pl-4 text-13', wraps && 'whitespace-pre-wrap break-all')}
      >
        <code>{text}</code>
      </pre>
      <CopyButton text={text} className="absolute top-1 right-1 tablet:top-2 tablet:right-2" />
    </>
  );
}
