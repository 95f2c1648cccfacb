import { useEffect, useState } from 'react';
import { backendUrl, mcpUrl } from '../../app/environment.ts';
import type { Tone } from '../../components/status-dot.tsx';

const checkIntervalMs = 5000;
const checkTimeoutMs = 4000;

export interface ServiceState {
  readonly tone: Tone;
  readonly text: string;
}

const unknown: ServiceState = { tone: 'none', text: 'Checking…' };

/** The states of the services that a browser reaches. */
export function useServiceStates(): { readonly backend: ServiceState; readonly remoteMcp: ServiceState } {
  const [backend, setBackend] = useState(unknown);
  const [remoteMcp, setRemoteMcp] = useState(unknown);
  useEffect(() => {
    const leaves = new AbortController();
    void watch(leaves.signal, async () => {
      await Promise.all([askBackend().then(setBackend), askRemoteMcp().then(setRemoteMcp)]);
    });
    return () => leaves.abort();
  }, []);
  return { backend, remoteMcp };
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

async function askBackend(): Promise<ServiceState> {
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
async function askRemoteMcp(): Promise<ServiceState> {
  try {
    const signal = AbortSignal.timeout(checkTimeoutMs);
    const response = await fetch(`${new URL(mcpUrl).origin}/health`, { mode: 'no-cors', signal });
    const answers = response.type === 'opaque' || response.ok;
    return answers ? { tone: 'good', text: 'answers' } : { tone: 'bad', text: 'down' };
  } catch {
    return { tone: 'bad', text: 'down' };
  }
}
