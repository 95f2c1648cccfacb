import type { LogLevel } from '../../services/contracts/env/variable.ts';

/** A parsed log line of a foreign program. */
export interface ForeignLine {
  /** 0 when the line has none. */
  readonly time: number;
  readonly level: LogLevel;
  readonly message: string;
}
