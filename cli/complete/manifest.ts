import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const flag = z.object({
  name: z.string(),
  char: z.string().optional(),
  type: z.enum(['boolean', 'option']),
  summary: z.string().default(''),
  helpValue: z.string().optional(),
  multiple: z.boolean().default(false),
  hidden: z.boolean().default(false),
});
export type Flag = z.output<typeof flag>;

const command = z.object({
  id: z.string(),
  aliases: z.array(z.string()),
  hidden: z.boolean().default(false),
  strict: z.boolean().default(true),
  summary: z.string().default(''),
  args: z.record(z.string(), z.object({ name: z.string() })),
  flags: z.record(z.string(), flag),
});
export type Command = z.output<typeof command>;

const manifest = z.object({ commands: z.record(z.string(), command) });

/** What the build recorded of every command. Loading oclif would take longer than a person waits for a list. */
export function readCommands(root: string): readonly Command[] {
  const text = readFileSync(join(root, 'oclif.manifest.json'), 'utf8');
  return Object.values(manifest.parse(JSON.parse(text)).commands).filter(({ hidden }) => !hidden);
}
