/** Where log lines go: one JSON object a line. */
export interface LogDestination {
  write(line: string): void;
}
