import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The version of this program, to compare a command with the running platform. */
export function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
