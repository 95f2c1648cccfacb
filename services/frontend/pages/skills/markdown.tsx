import { Component, type ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Only these lead out of the page. */
const linked = /^(?:https?|mailto):/i;

const components: Components = {
  h1: ({ children }) => <h3 className="mt-4 font-semibold text-16 first:mt-0">{children}</h3>,
  h2: ({ children }) => <h4 className="mt-4 font-semibold text-14 first:mt-0">{children}</h4>,
  h3: ({ children }) => <h5 className="mt-2 font-semibold text-13 first:mt-0">{children}</h5>,
  h4: ({ children }) => <h6 className="mt-2 font-medium text-13 first:mt-0">{children}</h6>,
  h5: ({ children }) => <p className="font-medium text-13">{children}</p>,
  h6: ({ children }) => <p className="font-medium text-13">{children}</p>,
  p: ({ children }) => <p className="break-words">{children}</p>,
  ul: ({ children }) => <ul className="grid list-disc gap-1 pl-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="grid list-decimal gap-1 pl-6">
      {children}
    </ol>
  ),
  li: ({ children }) => <li className="break-words pl-1">{children}</li>,
  a: ({ href, children }) =>
    href === undefined || !linked.test(href) ? (
      <span>{children}</span>
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="break-all text-accent underline">
        {children}
      </a>
    ),
  // An image would tell its author who reads, and the policy of the page refuses it.
  img: ({ alt }) => <span className="text-quiet">{`[image${alt ? `: ${alt}` : ''}]`}</span>,
  input: ({ checked }) => <span>{checked === true ? '☑ ' : '☐ '}</span>,
  blockquote: ({ children }) => (
    <blockquote className="grid gap-2 border-border border-l-2 pl-4 text-quiet">{children}</blockquote>
  ),
  pre: ({ children }) => (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      className="overflow-x-auto rounded-control border border-border bg-sunken px-3 py-2 text-12 [&_code]:bg-transparent [&_code]:p-0"
    >
      {children}
    </pre>
  ),
  code: ({ children }) => <code className="break-words rounded-control bg-sunken px-1 text-12">{children}</code>,
  hr: () => <hr className="border-border" />,
  table: ({ children }) => (
    <div className="overflow-x-auto">
      <table className="text-13">{children}</table>
    </div>
  ),
  th: ({ children }) => <th className="border border-border bg-sunken px-3 py-1 text-left font-medium">{children}</th>,
  td: ({ children }) => <td className="border border-border px-3 py-1 align-top">{children}</td>,
  // Footnotes lead to ids, of which the page has its own.
  sup: ({ children }) => <sup>{children}</sup>,
  section: ({ children }) => <section className="grid gap-2 border-border border-t pt-3 text-13">{children}</section>,
};

const plugins = [remarkGfm];

/** Markdown of somebody in the workspace: no HTML, no images, links to other sites only. */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <Caught text={text} key={text}>
      <div className="grid max-w-text gap-3 text-14">
        <ReactMarkdown remarkPlugins={plugins} components={components} skipHtml>
          {text}
        </ReactMarkdown>
      </div>
    </Caught>
  );
}

/** A text that the formatter cannot take is shown as it is. */
class Caught extends Component<{ readonly text: string; readonly children: ReactNode }, { readonly failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? (
      <pre className="whitespace-pre-wrap break-words text-13">{this.props.text}</pre>
    ) : (
      this.props.children
    );
  }
}
