import { useMemo, useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { type ToolsOfMcpServerQuery, toolsOfMcpServerQuery } from '../../graphql/generated/operations.ts';
import { usePages } from '../../graphql/use-pages.ts';
import { TryTool } from './try-tool.tsx';
import { type TokenSource, toolTokens } from './use-tool-call.ts';

type Tool = NonNullable<NonNullable<ToolsOfMcpServerQuery['workspace']>['mcpServer']>['tools']['nodes'][number];

const pageOf = (answer: ToolsOfMcpServerQuery) => answer.workspace?.mcpServer?.tools ?? null;

/** The tools of an MCP server. Those who may configure it try them here. */
export function McpServerTools({ id }: { readonly id: string }) {
  const { workspace } = usePlace();
  const [openId, setOpen] = useState<string | null>(null);
  const token = useMemo(() => toolTokens(workspace.id), [workspace.id]);
  const variables = { workspace: workspace.id, id };
  const { rows, error, hasMore, loadMore, retry } = usePages({ operation: toolsOfMcpServerQuery, variables, pageOf });
  if (rows === null) return error === null ? <Skeleton lines={4} /> : <ErrorState error={error} onRetry={retry} />;
  if (rows.length === 0) return <p className="text-13 text-quiet">It has listed no tools yet.</p>;
  return (
    <div className="grid gap-4">
      <ul className="grid divide-y divide-border">
        {rows.map((tool) => (
          <ToolRow
            key={tool.id}
            tool={tool}
            token={token}
            isOpen={tool.id === openId}
            onToggle={() => setOpen(tool.id === openId ? null : tool.id)}
          />
        ))}
      </ul>
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      {hasMore && (
        <div>
          <Button onClick={loadMore}>Show more</Button>
        </div>
      )}
    </div>
  );
}

function ToolRow({
  tool: { id, name, originalName, description, listed },
  token,
  isOpen,
  onToggle,
}: {
  readonly tool: Tool;
  readonly token: TokenSource;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  const { mayConfigure } = usePlace();
  const shownName = name ?? originalName;
  return (
    <li className="grid min-w-0 gap-3 py-3">
      <div className="flex items-start justify-between gap-3">
        <div className="grid min-w-0 gap-1">
          <code className="break-all text-13">{shownName}</code>
          {description && (
            <p className={isOpen ? 'break-words text-12 text-quiet' : 'line-clamp-2 break-words text-12 text-quiet'}>
              {description}
            </p>
          )}
          {!listed && <p className="text-12 text-quiet">The MCP server does not list it at present.</p>}
        </div>
        {mayConfigure && listed && name !== null && (
          <Button isSmall aria-expanded={isOpen} aria-label={`Try ${shownName}`} onClick={onToggle}>
            {isOpen ? 'Close' : 'Try'}
          </Button>
        )}
      </div>
      {isOpen && name !== null && <TryTool tool={{ id, name }} token={token} />}
    </li>
  );
}
