import type { EnvRecord } from '../../services/contracts/env/check.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { BackendClient } from '../backend-client.ts';

export interface ApplyOptions {
  readonly backend: BackendClient;
  /** Absolute paths. */
  readonly files: readonly string[];
  /** Where `fromEnv` looks. */
  readonly env: EnvRecord;
  /** Says what would change, and changes nothing. */
  readonly dryRun?: boolean;
  /** Also removes what no file names, in the workspaces that the files name. */
  readonly prune?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

export interface Change {
  readonly kind: 'mcpServer' | 'skill' | 'role';
  readonly workspace: string;
  readonly name: string;
  readonly action: 'create' | 'update' | 'delete' | 'none';
  /** What differs, by field name; never a value that may be secret. */
  readonly fields: readonly string[];
}

/** Makes workspaces be as the files say. Every mistake in every file is found before anything is changed. */
export async function apply(_options: ApplyOptions): Promise<readonly Change[]> {
  throw new SvcError('unsupported', 'Files cannot be applied yet.');
}
