import { parseDgraphLine } from './dgraph-line.ts';
import type { ForeignLine } from './foreign-line.ts';
import { parseNatsLine } from './nats-line.ts';

/** Caddy writes the same form as our services. */
const parsers: readonly ((text: string) => ForeignLine | null)[] = [parseNatsLine, parseDgraphLine];

/** Null for an unknown form. */
export function parseForeignLine(text: string): ForeignLine | null {
  for (const parse of parsers) {
    const line = parse(text);
    if (line !== null) return line;
  }
  return null;
}
