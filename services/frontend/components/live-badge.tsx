/** Shown while changes do not arrive. The data stay on the screen. */
export function LiveBadge({ connection }: { readonly connection: 'lost' | 'stopped' }) {
  return (
    <span role="status" className="inline-flex animate-late items-center gap-2 text-12">
      {connection === 'lost' ? (
        <i className="size-3 animate-turn rounded-dot border-2 border-warn border-r-transparent" />
      ) : (
        <i className="size-2 shrink-0 rounded-dot bg-warn-dot" />
      )}
      {connection === 'lost' ? 'Reconnecting…' : 'Updates stopped. Reload the page.'}
    </span>
  );
}
