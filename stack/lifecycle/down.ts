import { SvcError } from '../../services/contracts/errors.ts';
import type { Installation } from '../installation.ts';
import type { Progress } from './up.ts';

export interface DownOptions {
  readonly installation: Installation;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface DownResult {
  /** `unchanged`: nothing was running. */
  readonly outcome: 'stopped' | 'unchanged';
}

/** Stops everything gracefully and keeps all data. */
export async function down(_options: DownOptions): Promise<DownResult> {
  throw new SvcError('unsupported', 'The platform cannot be stopped yet.');
}
