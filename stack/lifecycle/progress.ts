import type { ServiceStatus, Status } from './platform-status.ts';

/** What `up` and `down` tell while they work. */
export type Progress =
  /** What differs from what runs, one line each; empty where nothing does. */
  | { readonly kind: 'plan'; readonly changes: readonly string[] }
  /** Something that the operator should know: a mode repaired, a port moved, a stale record removed. */
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
