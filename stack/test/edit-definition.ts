import { readFileSync, writeFileSync } from 'node:fs';
import type { Installation } from '../state/installation.ts';

/** Replaces a text of svc.yaml, which must contain it. */
export function editDefinition({ definitionFile }: Installation, from: string | RegExp, to: string): void {
  const before = readFileSync(definitionFile, 'utf8');
  const after = before.replace(from, to);
  if (after === before) throw new Error(`there is no ${from} in svc.yaml`);
  writeFileSync(definitionFile, after);
}
