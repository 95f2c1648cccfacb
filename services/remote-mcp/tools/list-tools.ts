import { constantDefinitions } from '../../contracts/constant-definitions.ts';
import { formatCursor, parseCursor } from './page.ts';
import { listedTools, type View } from './view.ts';

/** A page ends at the first limit that it reaches. Both keep the time to write a page within a few milliseconds. */
const pageMaxTools = 1000;
const pageMaxChars = 1024 * 1024;

/** JSON text of the result of `tools/list`: the constant tools, then those of the disclosed skills. */
export function listTools(view: View, cursor: unknown): string {
  const after = parseCursor(cursor);
  const page: string[] = after === null ? [...constantDefinitions] : [];
  let chars = 0;
  let last: string | null = null;
  for (const { name, definition } of listedTools(view)) {
    if (definition === null || (after !== null && name <= after)) continue;
    if (last !== null && (page.length >= pageMaxTools || chars + definition.length > pageMaxChars)) {
      return `{"tools":[${page.join(',')}],"nextCursor":"${formatCursor(last)}"}`;
    }
    page.push(definition);
    chars += definition.length;
    last = name;
  }
  return `{"tools":[${page.join(',')}]}`;
}
