import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { classNames } from '../../components/class-names.ts';
import { DetailsPanel } from '../../components/details-panel.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { mcpServerQuery } from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { ConnectLink } from '../integrations/integration-state.tsx';
import { Section } from '../section.tsx';
import { McpServerActions } from './mcp-server-actions.tsx';
import { McpServerForm } from './mcp-server-form.tsx';
import { McpServerSettings } from './mcp-server-settings.tsx';
import { NextRetry, repairOf, ServerHealth, ServerStatus } from './mcp-server-state.tsx';
import { McpServerTools } from './mcp-server-tools.tsx';
import type { ShownServer } from './shown-server.ts';

interface PanelProps {
  readonly id: string;
  /** The title of the open tab. */
  readonly tab: string | undefined;
  readonly onTab: (title: string) => void;
  readonly onClose: () => void;
}

/** Everything about one MCP server, and what can be done with it. */
export function McpServerPanel({ id, tab, onTab, onClose }: PanelProps) {
  const { workspace } = usePlace();
  const { data, error, retry } = useOperation(mcpServerQuery, { workspace: workspace.id, id });
  const server = data?.workspace?.mcpServer;
  return (
    <DetailsPanel
      title={server?.name ?? 'MCP server'}
      of={server}
      isAwaited={data === null}
      error={error}
      onRetry={retry}
      missing={`No MCP server has the id "${id}". It was removed, or the address is wrong.`}
      onClose={onClose}
    >
      {(found) => <Details server={found} tab={tab} onTab={onTab} onRemoved={onClose} />}
    </DetailsPanel>
  );
}

interface DetailsProps extends Pick<PanelProps, 'tab' | 'onTab'> {
  readonly server: ShownServer;
  readonly onRemoved: () => void;
}

function Details({ server, tab, onTab, onRemoved }: DetailsProps) {
  const { mayConfigure } = usePlace();
  const { id, name, launch } = server;
  const tabs: readonly Tab[] = [
    { title: 'Overview', content: <Overview server={server} onRemoved={onRemoved} /> },
    { title: 'Tools', content: <McpServerTools id={id} /> },
    ...(mayConfigure && launch != null
      ? [{ title: 'Configuration', content: <McpServerForm server={server} launch={launch} /> }]
      : []),
  ];
  const shown = tabs.findIndex(({ title }) => title === tab);
  return <Tabs label={name} tabs={tabs} shown={Math.max(0, shown)} onShow={(at) => onTab(tabs[at]?.title ?? '')} />;
}

function Overview({ server, onRemoved }: { readonly server: ShownServer; readonly onRemoved: () => void }) {
  const { workspace, mayConfigure } = usePlace();
  const { launch, skills, runtimes, restarts } = server;
  return (
    <div className="grid gap-6">
      <div className="flex flex-wrap gap-x-6 gap-y-1">
        <ServerStatus status={server.status} />
        {server.enabled ? <ServerHealth health={server.health} /> : <span className="text-quiet">off</span>}
      </div>
      <Problem server={server} />
      {mayConfigure && <McpServerActions server={server} onRemoved={onRemoved} />}
      {mayConfigure && launch != null && launch.settings.length > 0 && (
        <Section title="Settings">
          <McpServerSettings server={server} launch={launch} />
        </Section>
      )}
      <Facts>
        <Fact name="Started">{server.lastStartedAt ? <RelativeTime at={server.lastStartedAt} /> : 'not yet'}</Fact>
        <Fact name="Restarts">{restarts === 0 ? 'none' : restarts}</Fact>
        <Fact name="Runtime">
          {runtimes.length === 0
            ? 'none'
            : runtimes.map(({ name, available }) => (available ? name : `${name} (unavailable)`)).join(', ')}
        </Fact>
        {launch != null && launch.url === null && <Fact name="Sandbox">{sandboxOf(server)}</Fact>}
        <Fact name="Skills">
          {skills.length === 0 ? (
            'none'
          ) : (
            <ul className="flex flex-wrap gap-x-3">
              {skills.map(({ id, name }) => (
                <li key={id} className="min-w-0">
                  <Link
                    to="/w/$workspace/skills/$skill"
                    params={{ workspace: workspace.id, skill: id }}
                    className="wrap-anywhere text-accent hover:underline"
                  >
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </Fact>
      </Facts>
      {server.stderr.length > 0 && (
        <Section title="Last output">
          <Lines>{server.stderr.join('\n')}</Lines>
        </Section>
      )}
      {launch != null && (
        <Section title="Launch">
          <Lines>{linesOf(launch)}</Lines>
        </Section>
      )}
    </div>
  );
}

/** Why it is not well, what repairs it, and when it is tried again. */
function Problem({ server }: { readonly server: ShownServer }) {
  const { reason, nextRetryAt, status } = server;
  if (reason == null) return null;
  return (
    <div
      role="status"
      className={classNames(
        'grid gap-1 rounded-control px-4 py-3 text-13',
        status === 'Error' ? 'bg-bad-soft' : status === 'Connected' ? 'bg-warn-soft' : 'bg-sunken',
      )}
    >
      <p className="wrap-anywhere">{reason.message}</p>
      <p className="wrap-anywhere">{repairOf(reason)}</p>
      {nextRetryAt != null && (
        <p className="font-medium">
          <NextRetry at={nextRetryAt} />
        </p>
      )}
      <ConnectLink server={server} />
    </div>
  );
}

/** A region that scrolls must be reachable by keyboard. */
function Lines({ children }: { readonly children: ReactNode }) {
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      className="max-h-64 overflow-auto rounded-control border border-border bg-sunken px-3 py-2 text-12"
    >
      <code>{children}</code>
    </pre>
  );
}

/** How its process is confined, which depends on who set the launch. */
function sandboxOf({ sandboxes, launch }: ShownServer): string {
  if (sandboxes.length === 0) return 'known once it runs';
  return `${sandboxes.join(', ')} (${launch?.setBy === 'operator' ? 'an operator' : 'a member'} set the launch)`;
}

function linesOf({ command, args, cwd, url, env, headers }: NonNullable<ShownServer['launch']>): string {
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
