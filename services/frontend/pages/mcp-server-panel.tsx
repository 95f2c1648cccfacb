import { useState } from 'react';
import { usePlace } from '../app/workspace.ts';
import { Button } from '../components/button.tsx';
import { ConfirmByTyping } from '../components/confirm-by-typing.tsx';
import { ErrorLine, ErrorState } from '../components/error-state.tsx';
import { RelativeTime } from '../components/relative-time.tsx';
import { SidePanel } from '../components/side-panel.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Tabs } from '../components/tabs.tsx';
import { showToast } from '../components/toast.tsx';
import { useAction } from '../components/use-action.ts';
import { send } from '../graphql/client.ts';
import {
  enableMcpServerMutation,
  type McpServerQuery,
  mcpServerQuery,
  removeMcpServerMutation,
  restartMcpServerMutation,
} from '../graphql/generated/operations.ts';
import { useOperation } from '../graphql/use-operation.ts';
import { ConnectLink } from './integration-state.tsx';
import { McpServerSettings } from './mcp-server-settings.tsx';
import { ServerHealth, ServerStatus } from './mcp-server-state.tsx';
import { McpServerTools } from './mcp-server-tools.tsx';
import { Fact, Facts, Section } from './panel-parts.tsx';

type Server = NonNullable<NonNullable<McpServerQuery['workspace']>['mcpServer']>;

/** Everything about one MCP server, and what can be done with it. */
export function McpServerPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const { data, error, retry } = useOperation(mcpServerQuery, { workspace: workspace.id, id });
  const server = data?.workspace?.mcpServer ?? null;
  return (
    <SidePanel title={server?.name ?? 'MCP server'} onClose={onClose}>
      {server !== null ? (
        <Tabs
          label={server.name}
          tabs={[
            { title: 'Overview', content: <Details server={server} onRemoved={onClose} /> },
            { title: 'Tools', content: <McpServerTools id={server.id} /> },
          ]}
        />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={retry} />
      ) : data === null ? (
        <Skeleton lines={6} />
      ) : (
        <p className="text-quiet">{`No MCP server has the id "${id}". It was removed, or the address is wrong.`}</p>
      )}
    </SidePanel>
  );
}

function Details({ server, onRemoved }: { readonly server: Server; readonly onRemoved: () => void }) {
  const { mayConfigure } = usePlace();
  const { reason, launch, skills } = server;
  return (
    <div className="grid gap-6">
      <div className="flex flex-wrap gap-x-6 gap-y-1">
        <ServerStatus status={server.status} />
        {server.enabled ? <ServerHealth health={server.health} /> : <span className="text-quiet">off</span>}
      </div>
      {reason !== null && reason !== undefined && (
        <div className="grid gap-1 rounded-control bg-bad-soft px-4 py-3 text-13">
          <p className="break-words">{reason.message}</p>
          <p className="break-words">{reason.repair}</p>
          <ConnectLink server={server} />
        </div>
      )}
      {mayConfigure && <Actions server={server} onRemoved={onRemoved} />}
      <Facts>
        <Fact name="Started">{server.lastStartedAt ? <RelativeTime at={server.lastStartedAt} /> : 'not yet'}</Fact>
        {server.nextRetryAt ? (
          <Fact name="Next try">
            <RelativeTime at={server.nextRetryAt} />
          </Fact>
        ) : null}
        <Fact name="Restarts">{server.restarts}</Fact>
        <Fact name="Runtime">{server.runtimes.map(({ name }) => name).join(', ') || 'none'}</Fact>
        {server.sandboxes.length > 0 && <Fact name="Confined by">{server.sandboxes.join(', ')}</Fact>}
        <Fact name="Skills">{skills.map(({ name }) => name).join(', ') || 'none'}</Fact>
      </Facts>
      {mayConfigure && launch !== null && launch !== undefined && launch.settings.length > 0 && (
        <Section title="Settings">
          <McpServerSettings server={server} launch={launch} />
        </Section>
      )}
      {launch !== null && launch !== undefined && (
        <Section title="Launch">
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
            tabIndex={0}
            className="overflow-x-auto rounded-control border border-border bg-sunken px-3 py-2 text-12"
          >
            <code>{linesOf(launch)}</code>
          </pre>
        </Section>
      )}
      {server.stderr.length > 0 && (
        <Section title="Last output">
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
            tabIndex={0}
            className="max-h-64 overflow-auto rounded-control border border-border bg-sunken px-3 py-2 text-12"
          >
            <code>{server.stderr.join('\n')}</code>
          </pre>
        </Section>
      )}
    </div>
  );
}

function Actions({ server, onRemoved }: { readonly server: Server; readonly onRemoved: () => void }) {
  const { workspace } = usePlace();
  const [isRemoving, setRemoving] = useState(false);
  const { id, name, version } = server;
  const at = { workspace: workspace.id, id };
  const restart = useAction(async () => {
    await send(restartMcpServerMutation, at);
    showToast(`${name} restarts.`);
  });
  const setEnabled = (enabled: boolean, ifVersion: number | null) =>
    send(enableMcpServerMutation, { ...at, enabled, ifVersion });
  const toggle = useAction(async () => {
    await setEnabled(!server.enabled, version);
    showToast(server.enabled ? `${name} is off.` : `${name} is on.`, () => void setEnabled(server.enabled, null));
  });
  const skills = server.skills.map((skill) => skill.name);
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        <Button onClick={restart.run} isBusy={restart.isBusy} disabled={!server.enabled}>
          Restart
        </Button>
        <Button onClick={toggle.run} isBusy={toggle.isBusy}>
          {server.enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button look="dangerous" onClick={() => setRemoving(true)}>
          Remove…
        </Button>
      </div>
      <ErrorLine error={restart.error ?? toggle.error} />
      {isRemoving && (
        <ConfirmByTyping
          title={`Remove ${name}`}
          name={name}
          verb="Remove MCP server"
          consequence={
            skills.length === 0
              ? 'Its settings and its secrets are deleted. No skill uses it.'
              : `Its settings and its secrets are deleted. These skills lose its tools: ${skills.join(', ')}.`
          }
          onConfirm={async () => {
            await send(removeMcpServerMutation, {
              ...{ ...at, ifVersion: version },
              ifUsedBy: server.skills.map((skill) => skill.id),
            });
            onRemoved();
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </div>
  );
}

function linesOf({ command, args, cwd, url, env, headers }: NonNullable<Server['launch']>): string {
  const shown =
    (separator: string) =>
    ({ name, value }: { name: string; value?: string | null }) =>
      `${name}${separator}${value ?? '[secret]'}`;
  return [
    ...(command ? [[command, ...(args ?? [])].join(' ')] : []),
    ...(url ? [url] : []),
    ...(cwd ? [`in ${cwd}`] : []),
    ...env.map(shown('=')),
    ...headers.map(shown(': ')),
  ].join('\n');
}
