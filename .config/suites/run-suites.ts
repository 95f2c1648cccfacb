import type { SuiteResult } from './journal.ts';
import { type Batch, runVitest } from './run-vitest.ts';

export interface RunOptions {
  readonly root: string;
  readonly filters: readonly string[];
  readonly fileLimitMs: number;
  readonly signal: AbortSignal;
  readonly onSuite: (suite: SuiteResult) => void;
}

export interface Run {
  readonly planned: readonly string[];
  readonly suites: readonly SuiteResult[];
  /** Suites without a result, by file, with the reason. */
  readonly lost: ReadonlyMap<string, string>;
  /** Errors that belong to no suite. */
  readonly strays: readonly string[];
}

/**
 * Runs every suite to a separate result. A suite that hangs, or kills its worker or vitest, is lost; the suites beside
 * it run again. The loop ends: a round of one suite always settles it, and a round of several that settles none is
 * followed by a round of one.
 */
export async function runSuites(options: RunOptions): Promise<Run> {
  const suites = new Map<string, SuiteResult>();
  const lost = new Map<string, string>();
  const strays: string[] = [];
  const suspects: string[] = [];

  const first = await round(options.filters);
  const planned = first.planned;
  const unsettled = () => planned.filter((file) => !suites.has(file) && !lost.has(file));
  if (planned.length === 0) strays.push(`no suite was found (vitest ended with ${first.exit})`);
  settle(first, planned);

  while (unsettled().length > 0 && !options.signal.aborted) {
    const files = unsettled();
    const suspect = suspects.find((file) => files.includes(file));
    const chosen = suspect === undefined ? files : [suspect];
    settle(await round(chosen), chosen);
  }
  for (const file of unsettled()) lost.set(file, `did not finish: ${reasonOf(options.signal)}`);
  return { planned, suites: [...suites.values()], lost, strays };

  async function round(filters: readonly string[]): Promise<Batch> {
    const batch = await runVitest({ ...options, filters });
    for (const suite of batch.suites) suites.set(suite.file, suite);
    return batch;
  }

  /** Decides, after a round of these files, which of them are lost. */
  function settle(batch: Batch, files: readonly string[]): void {
    for (const file of batch.hung) lost.set(file, `was still running after ${options.fileLimitMs / 1000} s`);
    const unfinished = files.filter((file) => !suites.has(file) && !lost.has(file));
    if (batch.complete) {
      for (const file of unfinished) lost.set(file, 'crashed: its worker process ended before the suite did');
      // vitest also reports each worker that ended early, without its suite.
      const known = batch.hung.size + unfinished.length > 0;
      strays.push(...batch.strays.filter((text) => !known || !text.startsWith('[vitest-pool]')));
      if (
        batch.exit !== 'exit code 0' &&
        !known &&
        files.length > 0 &&
        batch.strays.length === 0 &&
        batch.suites.every(isClean)
      ) {
        strays.push(`vitest ended with ${batch.exit} and does not say why`);
      }
    } else if (options.signal.aborted) {
      return;
    } else if (unfinished.length === 1) {
      for (const file of unfinished) lost.set(file, `crashed and took vitest with it (${batch.exit})`);
    } else if (batch.suites.length === 0) {
      suspects.push(...unfinished);
    }
  }
}

function isClean(suite: SuiteResult): boolean {
  return suite.errors.length === 0 && suite.tests.every((test) => test.state !== 'failed');
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : String(signal.reason);
}
