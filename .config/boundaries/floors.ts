import { posix } from 'node:path';
import { resolveImport } from './import-table.ts';
import type { SourceFile } from './source-file.ts';
import { isTestCode, type Violation } from './violation.ts';

/**
 * The folders of a part, as floors of a house from the top. A file imports from its own floor and from lower ones.
 * Files directly in the part form its roof. A folder below a floor belongs to the floor.
 */
const houses: Readonly<Record<string, readonly string[]>> = {
  stack: [
    ...['demo', 'runtime-elsewhere', 'operations', 'apply', 'skills', 'engines', 'content', 'lifecycle', 'boot'],
    ...['graph', 'bus', 'client', 'logs', 'plan', 'place', 'ports', 'parts', 'secrets', 'state', 'settings', 'machine'],
  ],
  'services/backend': [
    ...[
      'graphql',
      'live',
      'catalogue',
      'usage',
      'runtimes',
      'integrations',
      'roles',
      'skills',
      'servers',
      'files',
      'oauth',
      'keys',
    ],
    ...[
      'tools',
      'workspaces',
      'accounts',
      'mail',
      'activity',
      'members',
      'tokens',
      'secrets',
      'limits',
      'http',
      'bus',
      'graph',
    ],
  ],
  'services/remote-mcp': [
    ...['wire', 'calls', 'tools', 'catalogue', 'routing'],
    ...['sessions', 'auth', 'usage', 'bus', 'http'],
  ],
  'services/runtime': ['bus', 'supervisor', 'launchers', 'wire', 'time'],
};

/** Imports that run upward inside a part, and folders that are not floors of it. */
export function floorViolations(file: SourceFile): Violation[] {
  const part = Object.keys(houses).find((name) => file.path.startsWith(`${name}/`));
  if (part === undefined || isTestCode(file.path) || file.path.startsWith(`${part}/test/`)) return [];
  const from = floorOf(part, file.path);
  if (from === null) return [{ path: file.path, line: 1, message: `lies on no floor of ${part}` }];
  return file.imports.flatMap(({ specifier, line }) => {
    const target = specifier?.startsWith('.') ? resolveImport(file.path, specifier) : null;
    if (target === null || !target.startsWith(`${part}/`)) return [];
    const to = floorOf(part, target);
    return to === null || to >= from ? [] : [{ path: file.path, line, message: `imports upward: ${target}` }];
  });
}

/** 0 is the roof; null if the folder is not listed. */
function floorOf(part: string, path: string): number | null {
  const [first = '', second] = posix.relative(part, path).split('/');
  if (second === undefined) return 0;
  const index = houses[part]?.indexOf(first) ?? -1;
  return index === -1 ? null : index + 1;
}
