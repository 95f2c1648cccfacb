import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestResult, TestSpecification, Vitest } from 'vitest/node';
import { type JournalLine, journalDescriptor, journalText, type TestOutcome } from './journal.ts';

/** A vitest reporter: tells the runner which files and tests start and end. */
export default class JournalReporter implements Reporter {
  private root = '';
  private readonly startedAt = new Map<string, number>();

  onInit(vitest: Vitest): void {
    this.root = vitest.config.root;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    write({ kind: 'planned', files: specifications.map((one) => this.name(one.moduleId)) });
  }

  onTestModuleQueued(module: TestModule): void {
    this.startedAt.set(module.moduleId, performance.now());
    write({ kind: 'started', file: this.name(module.moduleId) });
  }

  onTestModuleEnd(module: TestModule): void {
    const now = performance.now();
    const ms = Math.round(now - (this.startedAt.get(module.moduleId) ?? now));
    const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
    const tests = [...module.children.allTests()].map(outcome);
    write({ kind: 'finished', suite: { file: this.name(module.moduleId), ms, tests, errors: errors.map(firstLine) } });
  }

  onTestRunEnd(_modules: readonly TestModule[], strays: readonly { readonly message: string }[]): void {
    write({ kind: 'ended', strays: strays.map(firstLine) });
  }

  private name(moduleId: string): string {
    return relative(this.root, moduleId);
  }
}

function outcome(test: TestCase): TestOutcome {
  const result = test.result();
  // A test without a result did not run, so it counts as failed.
  const state = result.state === 'pending' ? 'failed' : result.state;
  return { name: test.fullName, state, ms: Math.round(test.diagnostic()?.duration ?? 0), note: noteOf(result) };
}

function noteOf(result: TestResult): string | null {
  if (result.state === 'skipped') return result.note ?? null;
  const [error] = result.errors ?? [];
  return error === undefined ? null : error.message.replaceAll(/\s+/g, ' ').slice(0, reasonMaxLength);
}

const reasonMaxLength = 1000;

function firstLine(error: { readonly message: string }): string {
  return error.message.split('\n', 1)[0] ?? '';
}

function write(line: JournalLine): void {
  writeFileSync(journalDescriptor, journalText(line));
}
