import { type ReactNode, useId } from 'react';

/** A part of the page of a skill, with its action beside its title. */
export function SkillSection({
  title,
  about,
  action,
  children,
}: {
  readonly title: string;
  readonly about?: string | undefined;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="grid gap-2">
      <header className="flex min-h-8 flex-wrap items-center justify-between gap-2">
        <div className="flex min-w-0 items-baseline gap-2">
          <h2 id={id} className="font-semibold text-14">
            {title}
          </h2>
          {about !== undefined && <span className="text-13 text-quiet">{about}</span>}
        </div>
        {action}
      </header>
      {children}
    </section>
  );
}

/** Lines of a part, each with what can be done with it. */
export function Lines({ children, label }: { readonly children: ReactNode; readonly label: string }) {
  return (
    <ul aria-label={label} className="rounded-control border border-border bg-surface">
      {children}
    </ul>
  );
}

export const lineClass =
  'flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 px-4 py-1 text-13 [&+&]:border-t [&+&]:border-border tablet:flex-nowrap';

/** What is beside the name of a line, and below it on a phone. */
export const detailClass =
  'order-last flex min-w-0 basis-full gap-4 pb-1 tablet:order-none tablet:basis-auto tablet:pb-0';
