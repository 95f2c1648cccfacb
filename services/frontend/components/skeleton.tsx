/** The shape of lines that are on their way. It appears late, so that a fast answer never flickers. */
export function Skeleton({ lines = 3, label = 'Loading' }: { readonly lines?: number; readonly label?: string }) {
  return (
    <div role="status" aria-label={label} className="grid animate-late gap-px">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike
        <div key={line} className="flex h-11 items-center gap-4 px-4">
          <span className="h-3 w-2/5 rounded-control bg-active" />
          <span className="h-3 w-1/5 rounded-control bg-hover" />
        </div>
      ))}
    </div>
  );
}
