import type { ReactNode } from 'react';

interface SectionProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** A part of a place. */
export function Part({ title, children }: SectionProps) {
  return (
    <section className="grid min-w-0 gap-3">
      <h2 className="font-semibold text-16">{title}</h2>
      {children}
    </section>
  );
}

/** A part of a side panel. */
export function Section({ title, children }: SectionProps) {
  return (
    <section className="grid gap-2">
      <h3 className="font-medium text-13">{title}</h3>
      {children}
    </section>
  );
}
