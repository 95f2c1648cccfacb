import { mcpUrl } from '../../app/environment.ts';
import type { ServiceConcern } from './concern-list.tsx';
import { useServiceStates } from './service-states.ts';

/** What is not well with the services of the platform, as this browser sees them. */
export function useServiceConcerns(): readonly ServiceConcern[] {
  const { backend, remoteMcp } = useServiceStates();
  const concerns: ServiceConcern[] = [];
  if (backend.tone === 'bad' || backend.tone === 'warn') {
    const reason = 'What this page shows may be stale. An operator of the platform can repair it.';
    concerns.push({ id: 'backend', tone: backend.tone, title: `The backend is ${backend.text}`, reason });
  }
  if (remoteMcp.tone === 'bad') {
    const reason = `${mcpUrl} does not answer. An operator of the platform can repair it.`;
    concerns.push({ id: 'remote-mcp', tone: 'bad', title: 'Agents cannot connect', reason });
  }
  return concerns;
}
