import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { KeptBy } from '../graph/graph-data.ts';
import type { Status } from '../lifecycle/platform-status.ts';
import type { Progress } from '../lifecycle/progress.ts';
import type { LogSource } from '../logs/read-logs.ts';
import type { Site } from '../parts/setup.ts';
import type { Losses, StartEmpty } from '../place/losses.ts';
import type { Plan } from '../plan/plan.ts';
import type { Ports, PortWish } from '../settings/ports.ts';
import type { Installation } from '../state/installation.ts';
import type { ServiceState } from '../state/transition.ts';
import type { Places, PlacesOptions } from './places.ts';

/** Runs the parts of a platform: as processes of this machine, or as containers. It carries out what the shared plan says. */
export interface Engine {
  /** The world as parts see it from where this engine runs them. */
  site(installation: Installation, ports: Ports, wishes: readonly PortWish[]): Site;
  /** Whether a port that a part listens on is a port of this machine. */
  takesPort(wish: PortWish): boolean;
  /** Refuses programs that this machine lacks, and ports that it may not listen on. Returns what the operator should know. */
  check(plan: Plan, env: EnvRecord): Promise<readonly string[]>;
  /** Finds what the installation has on this engine. Refuses an engine or an installation that cannot start. */
  survey(start: EngineStart): Promise<Survey>;
  /** Stops every part and keeps all data. `unchanged`: nothing ran. */
  down(options: Stopping): Promise<'stopped' | 'unchanged'>;
  /** Reads the state of every part and changes nothing. A platform that does not run is an answer, not an error. */
  inspect(options: Inspection): Promise<Status>;
  /** Where the data of a plan is kept. Used while the platform does not run, or to read it. */
  places(options: PlacesOptions): Promise<Places>;
  /** Logs that are not in the folder of logs. */
  logs(installation: Installation, linesMax: number): Promise<readonly LogSource[]>;
}

export interface EngineStart {
  readonly installation: Installation;
  readonly env: EnvRecord;
  readonly foreground: boolean;
  /** Null: a start without data that is gone is refused. */
  readonly startEmpty: StartEmpty | null;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
  readonly onState: (name: string, state: ServiceState) => void;
}

/** What an installation has on an engine, as far as the plan depends on it. */
export interface Survey {
  /** Whether the running platform listens on a port. The port is free once the platform stops. */
  readonly ownsPort: (port: number) => boolean;
  /** How long a port of a killed process may take to become free. */
  readonly portPatienceMs: number;
  readonly keptBy: KeptBy;
  /** Finds data of the plan that the platform had and that is gone. */
  findLosses(plan: Plan): Promise<Losses>;
  /** Removes the lost data of these places from the record: the start creates it again. */
  forget(places: readonly string[], plan: Plan): Promise<void>;
  /** Compares the plan with what runs. Makes what the comparison needs, such as images, and changes no part. */
  prepare(plan: Plan, restart: PartNames): Promise<Prepared>;
}

/** The parts that restart although they run as planned. */
export type PartNames = ReadonlySet<string>;

/** A start that is ready to be carried out. */
export interface Prepared {
  /** What differs from what runs, one line each; null while nothing runs. */
  readonly changes: readonly string[] | null;
  readonly isFresh: boolean;
  /** Whether a change concerns all parts, so that the platform stops before it starts again. */
  readonly mustStop: boolean;
  /** Whether everything runs as planned and is ready, or will be in a moment. */
  isCurrent(): Promise<boolean>;
  refuseFullDisk(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Starts and restarts parts until all of them run as planned and are ready. A port that was taken meanwhile is a `lostPort`. `ended`, in
   * the foreground: resolves once all parts have stopped after the signal.
   */
  apply(): Promise<{ readonly ended: Promise<void> }>;
}

export interface Stopping {
  readonly installation: Installation;
  readonly onProgress: (progress: Progress) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface Inspection {
  readonly installation: Installation;
  /** The plan that svc.yaml makes, asked for only where no record says what runs. */
  readonly readPlan: () => Plan;
  readonly signal?: AbortSignal | undefined;
}
