/** Shown while changes do not arrive. The data stay on the screen. A phone has room for a symbol and at most one word. */
export function LiveBadge({ connection }: { readonly connection: 'lost' | 'stopped' }) {
  const words = connection === 'lost' ? 'Reconnecting…' : 'Updates stopped. Reload the page.';
  return (
    <span role="status" title={words} className="inline-flex shrink-0 animate-late items-center gap-2 text-12">
      {connection === 'lost' ? (
        <i className="size-3 animate-turn rounded-dot border-2 border-warn border-r-transparent" />
      ) : (
        <i className="size-2 shrink-0 rounded-dot bg-warn-dot" />
      )}
      <span className="sr-only tablet:not-sr-only">{words}</span>
      {connection === 'stopped' && (
        <span aria-hidden="true" className="tablet:hidden">
          Reload
        </span>
      )}
    </span>
  );
}
