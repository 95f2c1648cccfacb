import { posix } from 'node:path';
import type { Violation } from './violation.ts';

const namesNothing = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'manager', 'managers']);
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;

/** House style 2 to 4: a name says what a file is; kebab-case; no index files. */
export function nameViolations(path: string): Violation[] {
  const refuse = (message: string) => [{ path, line: 1, message }];
  const empty = path.split(/[/.-]/).find((word) => namesNothing.has(word));
  if (empty !== undefined) return refuse(`is named "${empty}", which says nothing`);
  if (/^index\.\w+$/.test(posix.basename(path))) return refuse('is an index: import from the file that has the thing');
  if (!path.split('/').every((part) => kebabCase.test(part))) return refuse('is not named in kebab-case');
  return [];
}
