import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { StartEmpty } from '../place/settle-losses.ts';
import type { Installation } from '../state/installation.ts';
import type { Progress } from './progress.ts';

/** What an engine is told that is to make a platform run as svc.yaml says. */
export interface BringUp {
  readonly installation: Installation;
  readonly env: EnvRecord;
  readonly foreground: boolean;
  /** Null: a start without data that is gone is refused. */
  readonly startEmpty: StartEmpty | null;
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
  /** Ports of an earlier attempt: who took one of them from us is about to take the others. */
  readonly avoid: Set<number>;
  /** Lets other commands at the installation. */
  readonly release: () => void;
}
