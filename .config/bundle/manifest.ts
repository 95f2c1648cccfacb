import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Plugin } from '@oclif/core/config';
import { settings } from '@oclif/core/settings';

/**
 * The facts that oclif needs about every command before it loads one (flags, arguments, help), from the command classes
 * in dist/. Null if there is no command line.
 */
export async function commandManifest(root: string): Promise<string | null> {
  if (!existsSync(join(root, 'dist/cli/commands'))) return null;
  // The commands are those in dist/, even if NODE_ENV is "test".
  settings.enableAutoTranspile = false;
  const pjson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const plugin = new Plugin({
    root,
    pjson,
    isRoot: true,
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  });
  await plugin.load();
  // Ordered by name, because a folder lists its files in any order. Not indented, because each command reads it.
  const commands = Object.entries(plugin.manifest.commands).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ ...plugin.manifest, commands: Object.fromEntries(commands) })}\n`;
}
