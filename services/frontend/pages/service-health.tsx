import { useEffect, useState } from 'react';
import { backendUrl, mcpUrl } from '../app/environment.ts';
import { StatusDot, type Tone } from '../components/status-dot.tsx';

const checkIntervalMs = 5000;
const checkTimeoutMs = 4000;

interface State {
  readonly tone: Tone;
  readonly text: string;
}

const unknown: State = { tone: 'none', text: 'Checking…' };

/** The services that a browser reaches, with their addresses and states. For people who are not signed in, too. */
export function ServiceHealth() {
  const [backend, setBackend] = useState(unknown);
  const [remoteMcp, setRemoteMcp] = useState(unknown);
  useEffect(() => {
    const leaves = new AbortController();
    void watch(leaves.signal, async () => {
      await Promise.all([askBackend().then(setBackend), askRemoteMcp().then(setRemoteMcp)]);
    });
    return () => leaves.abort();
  }, []);
  const rows = [
    ['backend', 'Backend', 'Workspaces, skills, roles, keys: the GraphQL API', backendUrl, backend],
    ['remote-mcp', 'Remote MCP server', 'Where agents connect, with an API key', mcpUrl, remoteMcp],
    ['frontend', 'Frontend', 'This page', window.location.origin, { tone: 'good', text: 'healthy' }],
  ] as const;
  return (
    <section aria-labelledby="where" className="grid gap-4">
      <header className="flex flex-wrap items-baseline justify-between gap-2">
        <h2 id="where" className="font-semibold text-16">
          What runs where
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
            <code>svc status</code> shows their states, and why one does not work.
          </span>
        </li>
      </ul>
    </section>
  );
}

function Overall({ states }: { readonly states: readonly State[] }) {
  if (states.some(({ tone }) => tone === 'bad')) return <StatusDot tone="bad">A service is down</StatusDot>;
  if (states.some(({ tone }) => tone === 'warn')) return <StatusDot tone="warn">A service is degraded</StatusDot>;
  if (states.some(({ tone }) => tone === 'none')) return <StatusDot tone="none">Checking…</StatusDot>;
  return <StatusDot tone="good">Backend and remote MCP server work</StatusDot>;
}

/** Checks at an interval, and only while the page is visible: no subscription reports a service that is down. */
async function watch(signal: AbortSignal, check: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    if (!document.hidden) await check();
    await Promise.race([
      new Promise((resolve) => setTimeout(resolve, checkIntervalMs)),
      new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true, signal })),
    ]);
  }
}

async function askBackend(): Promise<State> {
  try {
    const response = await fetch(`${backendUrl}/ready`, { signal: AbortSignal.timeout(checkTimeoutMs) });
    if (response.ok) return { tone: 'good', text: 'healthy' };
    const { checks = {} } = await response.json().catch(() => ({}));
    const failed = Object.entries(checks).filter(([, state]) => state !== 'ok');
    const words = failed.map(([what, state]) => `${what} ${state}`).join(', ');
    return { tone: 'warn', text: words === '' ? 'degraded' : `degraded: ${words}` };
  } catch {
    return { tone: 'bad', text: 'down' };
  }
}

/** A page of another origin may not read the answer of remote-mcp, so this finds out only whether it answers. */
async function askRemoteMcp(): Promise<State> {
  try {
    const signal = AbortSignal.timeout(checkTimeoutMs);
    const response = await fetch(`${new URL(mcpUrl).origin}/health`, { mode: 'no-cors', signal });
    const answers = response.type === 'opaque' || response.ok;
    return answers ? { tone: 'good', text: 'answers' } : { tone: 'bad', text: 'down' };
  } catch {
    return { tone: 'bad', text: 'down' };
  }
}
