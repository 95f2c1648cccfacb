import { Link } from '@tanstack/react-router';
import { backendUrl, mcpUrl } from '../../app/environment.ts';
import { StatusDot } from '../../components/status-dot.tsx';
import { type ServiceState, useServiceStates } from './service-states.ts';

/** The services that a browser reaches, with their addresses and states. For people who are not signed in, too. */
export function ServiceHealth() {
  const { backend, remoteMcp } = useServiceStates();
  const rows = [
    ['backend', 'Backend', 'Workspaces, skills, roles, keys: the GraphQL API', backendUrl, backend],
    ['remote-mcp', 'Remote MCP server', 'Where agents connect, with an API key', mcpUrl, remoteMcp],
    ['frontend', 'Frontend', 'This page', window.location.origin, { tone: 'good', text: 'healthy' }],
  ] as const;
  return (
    <section aria-labelledby="where" className="grid gap-4">
      <header className="flex flex-wrap items-baseline justify-between gap-2">
        <h2 id="where" className="font-semibold text-16">
          Services
        </h2>
        <span id="overall" role="status">
          <Overall states={[backend, remoteMcp]} />
        </span>
      </header>
      <ul className="divide-y divide-border rounded-control border border-border bg-surface">
        {rows.map(([id, name, about, url, state]) => (
          <li key={id} id={id} className="grid gap-x-4 gap-y-1 px-4 py-3 tablet:grid-cols-3 tablet:items-center">
            <span className="grid">
              <span className="font-medium">{name}</span>
              <span className="text-12 text-quiet">{about}</span>
            </span>
            <code className="break-all text-13">{url}</code>
            <span className="state tablet:justify-self-end">
              <StatusDot tone={state.tone}>{state.text}</StatusDot>
            </span>
          </li>
        ))}
        <li className="grid gap-1 px-4 py-3">
          <span className="font-medium">Runtimes and MCP servers</span>
          <span className="text-12 text-quiet">
            Each workspace has its own.{' '}
            <Link to="/" className="text-accent underline">
              Open your workspace
            </Link>{' '}
            to see their states, and why one does not work.
          </span>
        </li>
      </ul>
    </section>
  );
}

function Overall({ states }: { readonly states: readonly ServiceState[] }) {
  if (states.some(({ tone }) => tone === 'bad')) return <StatusDot tone="bad">A service is down</StatusDot>;
  if (states.some(({ tone }) => tone === 'warn')) return <StatusDot tone="warn">A service is degraded</StatusDot>;
  if (states.some(({ tone }) => tone === 'none')) return <StatusDot tone="none">Checking…</StatusDot>;
  return <StatusDot tone="good">Backend and remote MCP server work</StatusDot>;
}
