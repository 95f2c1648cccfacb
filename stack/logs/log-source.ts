/** Where lines of one service come from. */
export interface LogSource {
  readonly service: string;
  /** What is there already, as far back as a person asks for. */
  before(): Promise<readonly string[]>;
  /** What was written since. */
  next(): Promise<readonly string[]>;
}
