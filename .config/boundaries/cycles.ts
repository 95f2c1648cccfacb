import { resolveImport } from './import-table.ts';
import type { SourceFile } from './source-file.ts';
import type { Violation } from './violation.ts';

/**
 * One violation for each group of files with circular imports. An import of a type counts as any other, because it
 * couples two files as much.
 */
export function cycleViolations(files: readonly SourceFile[]): Violation[] {
  const links = new Map(
    files.map((file) => [
      file.path,
      file.imports.flatMap(({ specifier, line }) =>
        specifier?.startsWith('.') ? [{ to: resolveImport(file.path, specifier), line }] : [],
      ),
    ]),
  );
  const reported = new Set<string>();
  const violations: Violation[] = [];
  for (const [path, outgoing] of links) {
    for (const link of outgoing) {
      if (reported.has(path)) continue;
      const back = shortestWay(links, link.to, path);
      if (back === null) continue;
      for (const member of back) reported.add(member);
      violations.push({ path, line: link.line, message: `is in a circle of imports: ${[path, ...back].join(' → ')}` });
    }
  }
  return violations;
}

/** The files on the shortest path from `start` to `end`, both included. */
function shortestWay(
  links: ReadonlyMap<string, readonly { readonly to: string }[]>,
  start: string,
  end: string,
): string[] | null {
  const cameFrom = new Map<string, string | null>([[start, null]]);
  for (const path of cameFrom.keys()) {
    if (path === end) {
      const way: string[] = [];
      for (let step: string | null = end; step !== null; step = cameFrom.get(step) ?? null) way.unshift(step);
      return way;
    }
    for (const { to } of links.get(path) ?? []) if (!cameFrom.has(to)) cameFrom.set(to, path);
  }
  return null;
}
