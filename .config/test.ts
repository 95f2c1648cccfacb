import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { SuiteResult } from './suites/journal.ts';
import { runSuites } from './suites/run-suites.ts';
import { type AllowedSkip, formatVerdict, judge } from './suites/verdict.ts';

/**
 * `npm test [PART OF A PATH…]`: runs the suites and prints `N passed, N failed, N skipped`, even if a suite kills its
 * process. Exit code 0 means that something ran and nothing failed.
 */
const usage = 'npm test [-- PART_OF_A_PATH…] [--root DIR] [--file-limit SECONDS] [--run-limit SECONDS] [--json FILE]';

// A suite that starts processes takes seconds, not minutes. The whole run takes half an hour on two idle cores, and longer beside other work.
const fileLimitSeconds = '300';
const runLimitSeconds = '3600';

const { values, positionals } = readArguments();
const root = resolve(values.root);
const stop = new AbortController();
const runLimit = setTimeout(
  () => stop.abort(new Error(`the run reached its limit of ${values['run-limit']} s`)),
  Number(values['run-limit']) * 1000,
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => stop.abort(new Error(`the run was interrupted by ${signal}`)));
}

const allowed = await loadSkips();
const run = await runSuites({
  root,
  filters: positionals,
  fileLimitMs: Number(values['file-limit']) * 1000,
  signal: stop.signal,
  onSuite: (suite) => process.stdout.write(`${progressLine(suite)}\n`),
});
clearTimeout(runLimit);

// A filter leaves out the suites of most entries, so only a whole run can tell that an entry is stale.
const verdict = judge(run, allowed);
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(verdict, null, 2)}\n`);
process.stdout.write(`${formatVerdict(positionals.length === 0 ? verdict : { ...verdict, unused: [] })}\n`);
process.exitCode = verdict.failed > 0 ? 1 : 0;

function readArguments() {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        root: { ...text, default: join(dirname(fileURLToPath(import.meta.url)), '..') },
        'file-limit': { ...text, default: fileLimitSeconds },
        'run-limit': { ...text, default: runLimitSeconds },
        json: text,
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `${reason}\nUsage: ${usage}\nOther options belong to vitest: npx vitest --config .config/vitest.config.ts\n`,
    );
    return process.exit(2);
  }
}

async function loadSkips(): Promise<readonly AllowedSkip[]> {
  const file = join(root, '.config/skips.ts');
  if (!existsSync(file)) return [];
  const loaded = (await import(pathToFileURL(file).href)) as { readonly skips: readonly AllowedSkip[] };
  // A present program is no reason to skip the suites that need it.
  return loaded.skips.filter(({ isHere }) => !isHere);
}

function progressLine({ file, ms, tests, errors }: SuiteResult): string {
  return `${wordFor(tests, errors).padEnd(6)} ${file} (${ms} ms)`;
}

/** The end of the run reports whether each skip is allowed. */
function wordFor(tests: SuiteResult['tests'], errors: SuiteResult['errors']): 'ok' | 'skip' | 'FAILED' {
  if (tests.length === 0 || errors.length > 0 || tests.some((test) => test.state === 'failed')) return 'FAILED';
  return tests.some((test) => test.state === 'passed') ? 'ok' : 'skip';
}
