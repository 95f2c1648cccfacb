export const serviceStates = [
  'planned',
  'starting',
  'healthy',
  'unhealthy',
  /** It ended, or did not get ready, and is restarting. */
  'restarting',
  /** It failed too often and is not retried before the next `svc up`. */
  'failed',
  /** A node of Dgraph whose data is missing. It would rejoin its cluster empty, so it is not started. */
  'lost',
  'stopped',
] as const;
export type ServiceState = (typeof serviceStates)[number];

/** `broke`: it will restart. `given_up`: it will not. */
export type ServiceEvent = 'start' | 'ready' | 'not_ready' | 'broke' | 'given_up' | 'lost' | 'stop';

/** The transitions of a service's states. An event that is not listed changes nothing. */
const table: Readonly<Record<ServiceState, Readonly<Partial<Record<ServiceEvent, ServiceState>>>>> = {
  planned: { start: 'starting', lost: 'lost', stop: 'stopped' },
  // A service that is not ready yet is starting; only one that was ready can be unhealthy.
  starting: { ready: 'healthy', broke: 'restarting', given_up: 'failed', stop: 'stopped' },
  healthy: { not_ready: 'unhealthy', broke: 'restarting', given_up: 'failed', stop: 'stopped' },
  unhealthy: { ready: 'healthy', broke: 'restarting', given_up: 'failed', stop: 'stopped' },
  restarting: { start: 'starting', given_up: 'failed', lost: 'lost', stop: 'stopped' },
  failed: { start: 'starting', lost: 'lost', stop: 'stopped' },
  lost: { start: 'starting', stop: 'stopped' },
  stopped: { start: 'starting', lost: 'lost' },
};

interface HasState {
  readonly state: ServiceState;
}

interface HasServices {
  readonly services: readonly HasState[];
  readonly isChanging?: boolean | undefined;
}

/** Every part was started or tried, and is up. */
export function isPlatformUp({ services, isChanging }: HasServices): boolean {
  return !isChanging && services.every(isUp);
}

/** A part is up when it is healthy, or kept out because its data is lost. */
export function isUp({ state }: HasState): boolean {
  return state === 'healthy' || state === 'lost';
}

export function transition(state: ServiceState, event: ServiceEvent): ServiceState {
  return table[state][event] ?? state;
}
