import type { ReactNode } from 'react';

/** What a place is for while it holds nothing, with the one action that changes that. */
export function EmptyState({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="grid justify-items-center gap-2 px-6 py-12 text-center">
      <h2 className="font-semibold text-16">{title}</h2>
      <p className="max-w-text text-quiet">{children}</p>
      {action !== undefined && <div className="mt-3">{action}</div>}
    </div>
  );
}
