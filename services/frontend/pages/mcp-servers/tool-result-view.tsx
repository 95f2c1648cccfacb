import type { ReactNode } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import type { ResultPart, ToolResult } from './tool-result.ts';

/** What a tool answered. Its texts are shown as they are, never as HTML. */
export function ToolResultView({ result, durationMs }: { readonly result: ToolResult; readonly durationMs: number }) {
  const { isError, parts, structured } = result;
  return (
    <>
      <p className={isError ? 'text-13 text-bad' : 'text-13 text-quiet'}>
        {isError ? `The tool reported an error after ${durationMs} ms.` : `Answered in ${durationMs} ms.`}
      </p>
      {parts.length === 0 && structured === null && <p className="text-13 text-quiet">The result is empty.</p>}
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity, and never move
        <Part key={at} part={part} />
      ))}
      {structured !== null && (
        <details className="text-13">
          <summary className="cursor-pointer text-quiet">Structured content</summary>
          <Output text={structured} />
        </details>
      )}
    </>
  );
}

function Part({ part }: { readonly part: ResultPart }): ReactNode {
  switch (part.kind) {
    case 'text':
      return <Output text={part.text} />;
    case 'image':
      return (
        <img
          src={part.url}
          alt="In the result of the tool"
          className="max-w-full rounded-control border border-border bg-sunken"
        />
      );
    case 'note':
      return <p className="break-words text-13 text-quiet">{part.text}</p>;
  }
}

function Output({ text }: { readonly text: string }) {
  return (
    <div className="relative min-w-0">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-96 overflow-auto whitespace-pre-wrap break-words rounded-control border border-border bg-sunken px-3 py-2 pr-12 text-12"
      >
        <code>{text}</code>
      </pre>
      <div className="absolute top-1 right-1">
        <CopyButton text={text} />
      </div>
    </div>
  );
}
