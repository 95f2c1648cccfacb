import { lazy, Suspense } from 'react';
import { Skeleton } from '../../components/skeleton.tsx';
import { mayFormat } from './markdown-limits.ts';

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }));

/** Markdown as an agent's author meant it. The formatter is loaded when there is a text. */
export function Formatted({ text }: { readonly text: string }) {
  if (mayFormat(text)) {
    return (
      <Suspense fallback={<Skeleton lines={4} />}>
        <Markdown text={text} />
      </Suspense>
    );
  }
  return (
    <div className="grid gap-3">
      <p className="text-12 text-quiet">The text is long or deeply nested, so it is shown as it is.</p>
      <pre className="max-w-text whitespace-pre-wrap break-words text-13">{text}</pre>
    </div>
  );
}
