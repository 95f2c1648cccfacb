export const serviceStates = [
  'planned',
  'starting',
  'healthy',
  'unhealthy',
  /** It ended, or did not get ready, and is started again. */
  'restarting',
  /** So often that it is not tried again before the next `svc up`. */
  'failed',
  /** A node of Dgraph whose data is gone. It would rejoin its cluster empty, so it is not started. */
  'lost',
  'stopped',
] as const;
export type ServiceState = (typeof serviceStates)[number];

/**
 * `broke`: it ended without being asked, or did not get ready, and shall run again. `given_up`: it shall not any more. `ended`: its process
 * is gone, in whatever way.
 */
export type ServiceEvent = 'start' | 'ready' | 'not_ready' | 'broke' | 'given_up' | 'lost' | 'stop' | 'ended';

/** What happens to a service in each state. An event that is not listed leaves it as it is. */
const table: Readonly<Record<ServiceState, Readonly<Partial<Record<ServiceEvent, ServiceState>>>>> = {
  planned: { start: 'starting', lost: 'lost', stop: 'stopped', ended: 'stopped' },
  // A service that is not ready yet is starting; only one that was ready can be unhealthy.
  starting: { ready: 'healthy', broke: 'restarting', given_up: 'failed', stop: 'stopped', ended: 'stopped' },
  healthy: { not_ready: 'unhealthy', broke: 'restarting', given_up: 'failed', stop: 'stopped', ended: 'stopped' },
  unhealthy: { ready: 'healthy', broke: 'restarting', given_up: 'failed', stop: 'stopped', ended: 'stopped' },
  restarting: { start: 'starting', given_up: 'failed', lost: 'lost', stop: 'stopped', ended: 'stopped' },
  failed: { start: 'starting', lost: 'lost', stop: 'stopped', ended: 'stopped' },
  lost: { start: 'starting', stop: 'stopped', ended: 'stopped' },
  stopped: { start: 'starting', lost: 'lost' },
};

/** A platform is up when every part is healthy or lost. */
export function isUp({ state }: { readonly state: ServiceState }): boolean {
  return state === 'healthy' || state === 'lost';
}

export function transition(state: ServiceState, event: ServiceEvent): ServiceState {
  return table[state][event] ?? state;
}
