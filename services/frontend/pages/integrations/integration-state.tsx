import { Link } from '@tanstack/react-router';
import { usePlace } from '../../app/workspace.ts';
import { StatusDot, type Tone } from '../../components/status-dot.tsx';
import type { IntegrationState } from '../../graphql/generated/operations.ts';

const states = {
  connected: { tone: 'good', word: 'connected' },
  needs_authorization: { tone: 'none', word: 'needs authorization' },
  expired: { tone: 'bad', word: 'expired' },
} as const satisfies Record<IntegrationState, { tone: Tone; word: string }>;

export function IntegrationStateDot({ state }: { readonly state: IntegrationState }) {
  const { tone, word } = states[state];
  return <StatusDot tone={tone}>{word}</StatusDot>;
}

interface Waiting {
  readonly reason: { readonly code: string } | null;
  readonly integration: { readonly id: string } | null;
}

/** For an MCP server that needs authorization: leads to its integration. */
export function ConnectLink({ server: { reason, integration } }: { readonly server: Waiting }) {
  const { workspace, mayConfigure } = usePlace();
  if (reason?.code !== 'needs_authorization' || integration === null) return null;
  return (
    <Link
      to="/w/$workspace/settings/integrations"
      params={{ workspace: workspace.id }}
      search={{ panel: integration.id }}
      // Not also the panel of the row.
      onClick={(event) => event.stopPropagation()}
      className="w-fit text-accent hover:underline"
    >
      {mayConfigure ? 'Needs authorization: connect it' : 'Needs authorization'}
    </Link>
  );
}
