import type { ReactNode } from 'react';

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
  return (
    <header className="mb-4 flex min-h-11 flex-wrap items-start justify-between gap-x-4 gap-y-2">
      <div>
        <h1 className="font-semibold text-20 tracking-tight">{title}</h1>
        {about !== undefined && <p className="text-13 text-quiet">{about}</p>}
      </div>
      {action}
    </header>
  );
}
