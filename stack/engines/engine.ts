import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { BringUp } from '../lifecycle/bring-up.ts';
import type { Status } from '../lifecycle/platform-status.ts';
import type { Progress, UpResult } from '../lifecycle/progress.ts';
import type { LogSource } from '../logs/log-source.ts';
import type { Definition } from '../settings/definition.ts';
import type { Ports } from '../settings/ports.ts';
import type { Installation } from '../state/installation.ts';

/** Runs the parts of a platform: as processes of this machine, or as containers. */
export interface Engine {
  /** Refuses what this machine lacks. Returns what the operator should know. */
  check(definition: Definition, env: EnvRecord): Promise<readonly string[]>;
  /** Refuses ports of this machine that it may not listen on. */
  checkPorts(definition: Definition, ports: Ports, env: EnvRecord): Promise<void>;
  /** Makes the platform run as svc.yaml says. Throws `LostPort` where another program took a port meanwhile. */
  up(options: BringUp): Promise<UpResult>;
  /** Stops every part and keeps all data. `unchanged`: nothing ran. */
  down(options: Stopping): Promise<'stopped' | 'unchanged'>;
  /** Changes nothing. A platform that does not run is an answer, not an error. */
  status(installation: Installation, signal?: AbortSignal): Promise<Status>;
  /** Logs that are not in the folder of logs. */
  logs(installation: Installation, linesMax: number): Promise<readonly LogSource[]>;
}

export interface Stopping {
  readonly installation: Installation;
  readonly onProgress: (progress: Progress) => void;
  readonly signal?: AbortSignal | undefined;
}
