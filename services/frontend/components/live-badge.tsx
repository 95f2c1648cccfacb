/** Shown while changes do not arrive. The data stay on the screen. */
export function LiveBadge() {
  return (
    <span role="status" className="inline-flex animate-late items-center gap-2 text-12 text-warn">
      <i className="size-3 animate-turn rounded-dot border-2 border-current border-r-transparent" />
      Reconnecting…
    </span>
  );
}
