import type { LogLevel } from '../../services/contracts/env/variable.ts';

/** What a program of somebody else's wrote, as far as it could be understood. */
export interface ForeignLine {
  /** 0 where it does not say. */
  readonly time: number;
  readonly level: LogLevel;
  readonly message: string;
}
