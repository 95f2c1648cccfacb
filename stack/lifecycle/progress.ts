import type { ServiceStatus, Status } from './platform-status.ts';

export type Progress =
  /** The differences from the running platform, one line each; empty without any. */
  | { readonly kind: 'plan'; readonly changes: readonly string[] }
  /** A notice for the operator: a mode repaired, a port moved, a stale record removed. */
  | { readonly kind: 'notice'; readonly message: string }
  | { readonly kind: 'service'; readonly name: string; readonly state: ServiceStatus['state'] }
  /** Every service is healthy and every identity is registered. */
  | { readonly kind: 'ready'; readonly status: Status };

export interface UpResult {
  /** `stopped`: in the foreground, after the signal. */
  readonly outcome: 'started' | 'restarted' | 'unchanged' | 'stopped';
  readonly changes: readonly string[];
  readonly status: Status;
}
