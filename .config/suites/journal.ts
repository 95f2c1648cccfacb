/**
 * What the reporter tells the runner, one JSON object a line, while it happens: a worker or vitest itself may be gone
 * a moment later, and what was written until then still stands.
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
  /** What went wrong outside the tests: an import that throws, a file without tests. */
  readonly errors: readonly string[];
}

export interface TestOutcome {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly ms: number;
  /** The words a test gave when it skipped itself, or the beginning of why it failed. */
  readonly note: string | null;
}

/** One line, whatever the names of tests hold: readers of lines take these two separators for ends of lines, and JSON lets them be. */
export function journalText(line: JournalLine): string {
  return `${JSON.stringify(line).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}

/** Null for the last line of a vitest that was killed while it wrote. */
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
