import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { DetailsPanel } from '../../components/details-panel.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Moment } from '../../components/moment.tsx';
import { showToast } from '../../components/toast.tsx';
import { send } from '../../graphql/client.ts';
import {
  type McpServersOnQuery,
  mcpServersOnQuery,
  revokeRuntimeMutation,
} from '../../graphql/generated/operations.ts';
import { useEveryRow } from '../../graphql/use-every-row.ts';
import { ServerStatus } from '../mcp-servers/mcp-server-state.tsx';
import { Section } from '../section.tsx';
import { RegisterRuntime } from './register-runtime.tsx';
import { type Runtime, RuntimeState, sandboxWords } from './runtime-state.tsx';

interface RuntimePanelProps {
  readonly id: string;
  /** Undefined: no runtime has the id. */
  readonly runtime: Runtime | undefined;
  readonly mayRegister: boolean;
  readonly onClose: () => void;
}

/** A runtime with its MCP servers, and what can be done with it. */
export function RuntimePanel({ id, runtime, mayRegister, onClose }: RuntimePanelProps) {
  return (
    <DetailsPanel
      title={runtime?.name ?? 'Runtime'}
      of={runtime}
      missing={`No runtime has the id "${id}". It was revoked, or the address is wrong.`}
      onClose={onClose}
    >
      {(found) => <Details runtime={found} mayRegister={mayRegister} onRevoked={onClose} />}
    </DetailsPanel>
  );
}

interface DetailsProps {
  readonly runtime: Runtime;
  readonly mayRegister: boolean;
  readonly onRevoked: () => void;
}

function Details({ runtime, mayRegister, onRevoked }: DetailsProps) {
  const { mayConfigure } = usePlace();
  const servers = useServersOn(runtime.id);
  const { id, platform, available, lastHeartbeatAt, versions, sandboxes, runningCalls } = runtime;
  return (
    <div className="grid gap-6">
      <RuntimeState isAvailable={available} />
      {mayConfigure && !platform && (
        <Actions runtime={runtime} servers={servers} mayRegister={mayRegister} onRevoked={onRevoked} />
      )}
      <Facts>
        <Fact name="Runs">{platform ? 'MCP servers of all workspaces' : 'MCP servers of this workspace'}</Fact>
        <Fact name="Last heartbeat">
          <Moment at={lastHeartbeatAt} otherwise="never" />
        </Fact>
        {runningCalls != null && available && <Fact name="Running calls">{runningCalls}</Fact>}
        <Fact name="Version">{versions.join(', ') || 'not reported'}</Fact>
        <Fact name="Sandbox">
          <span title={sandboxWords}>{sandboxes.join(', ') || 'not reported'}</span>
        </Fact>
        <Fact name="Id">
          <code className="break-all text-12">{id}</code>
        </Fact>
      </Facts>
      <Section title={`MCP servers${servers.rows === null ? '' : ` (${servers.rows.length})`}`}>
        <Loaded value={servers.rows} error={servers.error} onRetry={servers.retry} lines={3}>
          {(rows) => <ServerList servers={rows} />}
        </Loaded>
      </Section>
    </div>
  );
}

/** The MCP servers of this workspace that a runtime runs, all of them. */
function useServersOn(runtime: string) {
  const { workspace } = usePlace();
  return useEveryRow({
    operation: mcpServersOnQuery,
    variables: { workspace: workspace.id, runtime },
    pageOf: (answer: McpServersOnQuery) => answer.workspace?.mcpServers ?? null,
  });
}

type Servers = ReturnType<typeof useServersOn>;

function ServerList({ servers }: { readonly servers: NonNullable<Servers['rows']> }) {
  const { workspace } = usePlace();
  if (servers.length === 0) return <p className="text-13 text-quiet">It runs no MCP server of this workspace.</p>;
  return (
    <ul className="grid text-13">
      {servers.map(({ id, name, status }) => (
        <li key={id} className="flex min-h-9 flex-wrap items-center justify-between gap-x-4">
          <Link
            to="/w/$workspace/settings/mcp-servers"
            params={{ workspace: workspace.id }}
            search={{ panel: id }}
            className="wrap-anywhere min-w-0 text-accent hover:underline"
          >
            {name}
          </Link>
          <ServerStatus status={status} />
        </li>
      ))}
    </ul>
  );
}

interface ActionsProps extends DetailsProps {
  readonly servers: Servers;
}

function Actions({ runtime, servers: { rows }, mayRegister, onRevoked }: ActionsProps) {
  const { workspace } = usePlace();
  const [asked, ask] = useState<'rotate' | 'revoke' | null>(null);
  const { id, name } = runtime;
  const bound = rows ?? [];
  const close = () => ask(null);
  const loss =
    bound.length === 0
      ? 'No MCP server is bound to it.'
      : `Agents lose its MCP servers: ${bound.map((server) => server.name).join(', ')}. They stay bound to the name, and work again when it is registered again.`;
  return (
    <div className="flex flex-wrap gap-2">
      {mayRegister && <Button onClick={() => ask('rotate')}>New key…</Button>}
      <Button look="dangerous" onClick={() => ask('revoke')} disabled={rows === null}>
        Revoke…
      </Button>
      {asked === 'rotate' && <RegisterRuntime known={[runtime]} name={name} onClose={close} />}
      {asked === 'revoke' && (
        <ConfirmByTyping
          title={`Revoke ${name}`}
          name={name}
          verb="Revoke runtime"
          consequence={`Its keys are refused and its connections end at once. ${loss}`}
          onConfirm={async () => {
            await send(revokeRuntimeMutation, {
              ...{ workspace: workspace.id, id },
              ifUsedBy: bound.map((server) => server.id),
            });
            showToast(`${name} was revoked.`);
            onRevoked();
          }}
          onClose={close}
        />
      )}
    </div>
  );
}
