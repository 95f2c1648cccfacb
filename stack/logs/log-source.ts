/** The source of one service's lines. */
export interface LogSource {
  readonly service: string;
  /** The existing lines, as far back as a person asks for. */
  before(): Promise<readonly string[]>;
  /** The lines written since. */
  next(): Promise<readonly string[]>;
}
