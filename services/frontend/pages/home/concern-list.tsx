import { Link } from '@tanstack/react-router';
import type { Concern } from '../../app/concerns.ts';
import { usePlace } from '../../app/workspace.ts';
import { Icon } from '../../components/icon.tsx';

/** A concern about a service of the platform: nothing of the workspace mends it. */
export type ServiceConcern = Pick<Concern, 'id' | 'tone' | 'title' | 'reason'>;

interface ConcernListProps {
  readonly concerns: readonly (Concern | ServiceConcern)[];
  readonly hasMore: boolean;
}

/** Each thing that is not well, with the place where it is mended. */
export function ConcernList({ concerns, hasMore }: ConcernListProps) {
  return (
    <section aria-label="Not well">
      <ul className="divide-y divide-border rounded-control border border-border bg-surface">
        {concerns.map((concern) => (
          <li key={concern.id} className="flex flex-wrap items-start gap-x-3 gap-y-1 px-4 py-3 tablet:flex-nowrap">
            <Icon name="warning" className={concern.tone === 'bad' ? 'mt-0.5 text-bad' : 'mt-0.5 text-warn'} />
            <div className="min-w-0 flex-1">
              <p className="break-words font-medium">{concern.title}</p>
              <p className="line-clamp-3 break-words text-13 text-quiet">{concern.reason}</p>
            </div>
            {'place' in concern && (
              <div className="max-tablet:w-full max-tablet:pl-7">
                <Mend concern={concern} />
              </div>
            )}
          </li>
        ))}
      </ul>
      {hasMore && (
        <p className="mt-2 text-13 text-quiet">There may be more: see the lists of MCP servers and integrations.</p>
      )}
    </section>
  );
}

function Mend({ concern: { title, place, panel, action } }: { readonly concern: Concern }) {
  const { workspace } = usePlace();
  return (
    <Link
      to={place}
      params={{ workspace: workspace.id }}
      search={{ panel }}
      aria-label={`${action}: ${title}`}
      className="inline-flex h-11 shrink-0 items-center rounded-control border border-border bg-surface px-3 font-medium text-13 hover:bg-hover tablet:h-8"
    >
      {action}
    </Link>
  );
}
