export { isTestCode } from '../bundle/entries.ts';

export interface Violation {
  readonly path: string;
  readonly line: number;
  /** Continues the path: "stack/a.ts:3 imports …". */
  readonly message: string;
}

export function formatViolation({ path, line, message }: Violation): string {
  return `${path}:${line} ${message}`;
}
