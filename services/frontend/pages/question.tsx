import type { ReactNode } from 'react';

/** One column with one question: sign-in, consent, invitation, first run. */
export function Question({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <main className="mx-auto grid w-full max-w-question gap-6 px-4 pt-24 pb-12">
      <h1 className="font-semibold text-20 tracking-tight">{title}</h1>
      {children}
    </main>
  );
}
