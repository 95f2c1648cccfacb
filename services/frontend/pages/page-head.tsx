import { useMatch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { usePlace } from '../app/workspace.ts';

/** The title of a place, one line about its state, and its main action. */
export function PageHead({
  title,
  about,
  action,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly action?: ReactNode;
}) {
  const heading = useArrival(title);
  return (
    <header className="mb-4 flex min-h-11 flex-wrap items-start justify-between gap-x-4 gap-y-2">
      <div className="min-w-0">
        <h1 ref={heading} tabIndex={-1} className="truncate font-semibold text-20 tracking-tight outline-none">
          {title}
        </h1>
        {about !== undefined && <p className="text-13 text-quiet">{about}</p>}
      </div>
      {action}
    </header>
  );
}

/** The path whose heading was shown last. */
let shownPath: string | null = null;

/**
 * Names the document after the place, and gives the focus to the heading when a person came from another place, so that a
 * screen reader says where they are. The first place of a document leaves the focus to the browser.
 */
function useArrival(title: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  const path = useMatch({ strict: false, select: ({ pathname }) => pathname });
  const { workspace } = usePlace();
  useEffect(() => {
    document.title = title === workspace.name ? title : `${title} · ${workspace.name}`;
  }, [title, workspace.name]);
  useEffect(() => {
    if (shownPath !== null && shownPath !== path && document.querySelector('dialog[open]') === null)
      heading.current?.focus({ preventScroll: true });
    shownPath = path;
  }, [path]);
  return heading;
}
