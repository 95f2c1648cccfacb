import type { SuiteResult } from './journal.ts';
import type { Run } from './run-suites.ts';

/** An allowed skip: its tests (a pattern on "file > test name") and the reason why they cannot run everywhere. */
export interface AllowedSkip {
  readonly pattern: RegExp;
  readonly reason: string;
  /**
   * Whether the program that these tests need is present. Then none of them may be skipped; otherwise whole suites may.
   */
  readonly isHere: boolean;
}

export interface Verdict {
  readonly suites: readonly SuiteVerdict[];
  readonly skips: readonly { readonly name: string; readonly reason: string }[];
  /** Every failure by name. Their number is `failed`. */
  readonly failures: readonly string[];
  /** Allowed skips that no test used. They are reported but do not fail, because another machine may need them. */
  readonly unused: readonly AllowedSkip[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface SuiteVerdict {
  readonly file: string;
  /** Null for an unfinished suite. */
  readonly ms: number | null;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts a run. A test counts once; an unfinished suite, or one without tests, counts as one failure. */
export function judge(run: Run, allowed: readonly AllowedSkip[]): Verdict {
  const used = new Set<AllowedSkip>();
  const skips: { name: string; reason: string }[] = [];
  const failures: string[] = [...run.strays.map((text) => `outside of any test: ${text}`)];
  const suites: SuiteVerdict[] = [];

  for (const suite of run.suites) {
    const failuresBefore = failures.length;
    const skipsBefore = skips.length;
    let excused = 0;
    for (const test of suite.tests) {
      const name = `${suite.file} > ${test.name}`;
      if (test.state === 'failed') failures.push(`${name}${noteOf(test.note)}`);
      if (test.state !== 'skipped') continue;
      const skip = allowed.find(({ pattern }) => pattern.test(name));
      if (skip === undefined) {
        failures.push(`${name}: skipped${noteOf(test.note)}, and .config/skips.ts gives no reason for it`);
      } else {
        used.add(skip);
        skips.push({ name, reason: skip.reason });
        excused++;
      }
    }
    failures.push(...suiteFailures(suite, excused));
    suites.push({
      file: suite.file,
      ms: suite.ms,
      passed: suite.tests.filter((test) => test.state === 'passed').length,
      failed: failures.length - failuresBefore,
      skipped: skips.length - skipsBefore,
    });
  }
  for (const [file, reason] of run.lost) {
    failures.push(`${file}: ${reason}`);
    suites.push({ file, ms: null, passed: 0, failed: 1, skipped: 0 });
  }
  return {
    suites,
    skips,
    failures,
    unused: allowed.filter((skip) => !used.has(skip)),
    passed: suites.reduce((sum, suite) => sum + suite.passed, 0),
    failed: failures.length,
    skipped: skips.length,
  };
}

function suiteFailures({ file, errors, tests }: SuiteResult, excused: number): string[] {
  if (errors.length > 0) return errors.map((text) => `${file}: ${text}`);
  const isSkipped = tests.every((test) => test.state === 'skipped');
  const isExcused = tests.length > 0 && excused === tests.length;
  return isSkipped && !isExcused ? [`${file}: every test of the suite was skipped`] : [];
}

function noteOf(note: string | null): string {
  return note === null ? '' : ` ("${note}")`;
}

export function formatVerdict(verdict: Verdict): string {
  const slowestFirst = [...verdict.suites].sort((a, b) => (b.ms ?? Infinity) - (a.ms ?? Infinity));
  return [
    ...section('Suites', slowestFirst.map(formatSuite)),
    ...section(
      'Skipped',
      verdict.skips.map(({ name, reason }) => `${name}: ${reason}`),
    ),
    ...section(
      'Allowed skips that nothing used',
      verdict.unused.map(({ pattern, reason }) => `${pattern}: ${reason}`),
    ),
    ...section('Failed', verdict.failures),
    '',
    `${verdict.passed} passed, ${verdict.failed} failed, ${verdict.skipped} skipped`,
  ].join('\n');
}

function formatSuite(suite: SuiteVerdict): string {
  const counts = [
    `${suite.passed} passed`,
    suite.failed > 0 ? `${suite.failed} failed` : '',
    suite.skipped > 0 ? `${suite.skipped} skipped` : '',
  ];
  const time = suite.ms === null ? '–' : `${(suite.ms / 1000).toFixed(2)} s`;
  return `${time.padStart(9)}  ${suite.file}: ${counts.filter(Boolean).join(', ')}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}
