/**
 * The reporter's messages to the runner, one JSON object a line, written at once: a worker or vitest itself may die a
 * moment later.
 */
export type JournalLine =
  | { readonly kind: 'planned'; readonly files: readonly string[] }
  | { readonly kind: 'started'; readonly file: string }
  | { readonly kind: 'finished'; readonly suite: SuiteResult }
  | { readonly kind: 'ended'; readonly strays: readonly string[] };

export interface SuiteResult {
  readonly file: string;
  readonly ms: number;
  readonly tests: readonly TestOutcome[];
  /** Errors outside the tests: an import that throws, a file without tests. */
  readonly errors: readonly string[];
}

export interface TestOutcome {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly ms: number;
  /** The reason of a skipped test, or the beginning of a failed test's error. */
  readonly note: string | null;
}

/** One line for any test names. Readers of lines split at these two separators, which JSON does not escape. */
export function journalText(line: JournalLine): string {
  return `${JSON.stringify(line).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}

/** Null for the last line if vitest was killed while it wrote. */
export function parseJournalLine(line: string): JournalLine | null {
  try {
    return JSON.parse(line) as JournalLine;
  } catch {
    return null;
  }
}

/** The descriptor on which vitest inherits the pipe to the runner. */
export const journalDescriptor = 3;

/** Names the folder in which each worker writes its process id, in a file named after its suite. */
export const workersFolderVariable = 'SVC_TEST_WORKERS';
