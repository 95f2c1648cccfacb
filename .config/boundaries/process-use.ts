import { posix } from 'node:path';
import type { SourceFile } from './source-file.ts';
import { isTestCode, type Violation } from './violation.ts';

// Entries of a process that are not named main.ts: the command, and the program of `npm start`.
const otherEntries = ['cli/svc.cjs', 'stack/demo/start.ts'];

// oclif makes the commands, so their environment cannot be an argument. Only their base class reads it.
const environmentReaders = [...otherEntries, 'cli/command.ts'];

/** Only the entry of a process reads its environment or ends it. All other code gets its values as arguments. */
export function processViolations(file: SourceFile): Violation[] {
  if (isTestCode(file.path) || file.path.startsWith('templates/') || posix.basename(file.path) === 'main.ts') return [];
  return file.processUses
    .filter(({ name }) => !(name === 'process.env' ? environmentReaders : otherEntries).includes(file.path))
    .map(({ name, line }) => ({
      path: file.path,
      line,
      message: `uses ${name}, which only the entry of a process may`,
    }));
}
