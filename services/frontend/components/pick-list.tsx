export interface PickOption {
  readonly id: string;
  readonly title: string;
  readonly about: string;
}

interface PickListProps {
  readonly label: string;
  readonly options: readonly PickOption[];
  readonly picked: ReadonlySet<string>;
  readonly onToggle: (option: PickOption) => void;
}

/** Several of many. */
export function PickList({ label, options, picked, onToggle }: PickListProps) {
  return (
    <ul
      aria-label={label}
      className="max-h-64 overflow-y-auto rounded-control border border-border"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
    >
      {options.map((option, index) => (
        <li key={option.id} className={index > 0 ? 'border-border border-t' : undefined}>
          <label className="flex min-h-11 cursor-pointer items-center gap-3 px-3 py-1 text-13 hover:bg-hover tablet:min-h-9">
            <input
              type="checkbox"
              className="size-4 accent-solid"
              checked={picked.has(option.id)}
              onChange={() => onToggle(option)}
            />
            <span className="min-w-0 flex-1 truncate">{option.title}</span>
            <span className="max-w-1/2 truncate text-12 text-quiet">{option.about}</span>
          </label>
        </li>
      ))}
    </ul>
  );
}
