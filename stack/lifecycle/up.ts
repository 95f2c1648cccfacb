import { SvcError } from '../../services/contracts/errors.ts';
import type { Installation } from '../installation.ts';
import type { ServiceStatus, Status } from './status.ts';

export interface UpOptions {
  readonly installation: Installation;
  /** Runs the platform inside this process until `signal` aborts; `up` then resolves when it has stopped. */
  readonly foreground?: boolean;
  readonly onProgress?: (progress: Progress) => void;
  /** In the background it ends the wait and stops what this call started. */
  readonly signal?: AbortSignal;
}

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

/** Makes the platform run as svc.yaml says. Run again, it changes what differs, or nothing. */
export async function up(_options: UpOptions): Promise<UpResult> {
  throw new SvcError('unsupported', 'The platform cannot be started yet.');
}
