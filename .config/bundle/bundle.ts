import { globSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, formatMessages, type Metafile } from 'esbuild';
import { findEntries } from './entries.ts';
import { leftOut } from './left-out.ts';
import { commonJsNames, ownLocation, withNames } from './own-location.ts';
import { plainHttp } from './plain-http.ts';

export interface Bundle {
  /** By path relative to dist/. */
  readonly modules: ReadonlyMap<string, string>;
  /** Files to copy to the same path in dist/, relative to the repository. */
  readonly data: readonly string[];
  readonly metafile: Metafile;
}

/** All programs with their dependencies, as readable ES modules with shared chunks. */
export async function bundle(root: string): Promise<Bundle> {
  const entries = findEntries(root);
  const outdir = join(root, 'dist');
  const location = ownLocation(root, entries);
  const result = await build({
    absWorkingDir: root,
    entryPoints: entries.map(({ source, output }) => ({ in: source, out: output })),
    outdir,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Not minified: a stack trace from another machine must be readable without a source map.
    legalComments: 'none',
    // oclif loads it only to run a command from its TypeScript source.
    external: ['typescript'],
    // Its main file finds its own modules in a way that no bundler follows.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    chunkNames: 'chunks/[name]-[hash]',
    define: commonJsNames,
    plugins: [location.plugin, plainHttp, leftOut],
    metafile: true,
    logLevel: 'silent',
  });
  for (const warning of await formatMessages(result.warnings, { kind: 'warning' })) process.stderr.write(warning);
  const modules = new Map<string, string>();
  for (const file of result.outputFiles) {
    const output = relative(outdir, file.path);
    modules.set(output, asAscii(withNames(file.text, output)));
  }
  return { modules, data: [...location.named].flatMap((path) => filesIn(root, path)), metafile: result.metafile };
}

/**
 * Node keeps the text of a loaded module in memory, with two bytes for each character unless all are ASCII. Other
 * characters are in comments and regular expressions, where an escape means the same.
 */
function asAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function filesIn(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  const entries = globSync(`${path}/**/*`, { cwd: root, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
