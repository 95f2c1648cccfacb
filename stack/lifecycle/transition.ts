export const serviceStates = ['planned', 'starting', 'healthy', 'unhealthy', 'stopped'] as const;
export type ServiceState = (typeof serviceStates)[number];

/** `ended`: its process is gone, in whatever way. */
export type ServiceEvent = 'start' | 'ready' | 'not_ready' | 'stop' | 'ended';

/** What happens to a service in each state. An event that is not listed leaves it as it is. */
const table: Readonly<Record<ServiceState, Readonly<Partial<Record<ServiceEvent, ServiceState>>>>> = {
  planned: { start: 'starting', stop: 'stopped', ended: 'stopped' },
  // A service that is not ready yet is starting; only one that was ready can be unhealthy.
  starting: { ready: 'healthy', stop: 'stopped', ended: 'stopped' },
  healthy: { not_ready: 'unhealthy', stop: 'stopped', ended: 'stopped' },
  unhealthy: { ready: 'healthy', stop: 'stopped', ended: 'stopped' },
  stopped: { start: 'starting' },
};

export function transition(state: ServiceState, event: ServiceEvent): ServiceState {
  return table[state][event] ?? state;
}
