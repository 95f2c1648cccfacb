import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, posix, relative, sep } from 'node:path';
import type { Plugin } from 'esbuild';
import type { Entry } from './entries.ts';

export interface OwnLocation {
  readonly plugin: Plugin;
  /**
   * Files and folders that modules name relative to themselves, relative to the repository. They get the same path in
   * dist/.
   */
  readonly named: ReadonlySet<string>;
}

/**
 * Lets the platform's modules ask for their location, bundled or not. A bundle mixes modules from many folders, so
 * `import.meta.url` and `import.meta.dirname` become the path in dist/ that corresponds to the module's path in the
 * repository. In `new URL('./read.worker.ts', import.meta.url)` a module must be an entry, and becomes that entry's
 * file; any other file is data and is copied.
 */
export function ownLocation(root: string, entries: readonly Entry[]): OwnLocation {
  const outputs = new Map(entries.map(({ source, output }) => [source, `${output}.js`]));
  const named = new Set<string>();
  const errors: { text: string }[] = [];

  /** The path in dist/ of the file that `source` names as `target`. */
  function locate(source: string, target: string): string {
    const path = posix.join(posix.dirname(source), target);
    const output = outputs.get(path);
    if (output !== undefined) return output;
    // It is beside dist/ in the published package, as here. A copy inside would look like another package.
    if (path === 'package.json') return '../package.json';
    if (path.endsWith('.ts')) errors.push({ text: `"${target}" in ${source} is not an entry of the build.` });
    else if (path.startsWith('../') || !existsSync(join(root, path)))
      errors.push({ text: `"${target}" in ${source} does not exist.` });
    else named.add(path);
    return path;
  }

  const plugin: Plugin = {
    name: 'own-location',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = relative(root, path).split(sep).join('/');
        if (source.startsWith('node_modules/') || source.startsWith('../')) return undefined;
        const text = await readFile(path, 'utf8');
        if (!text.includes('import.meta')) return undefined;
        const contents = text
          .replace(/new URL\(\s*(['"])(\.{1,2}\/[^'"]+)\1,\s*import\.meta\.url\s*\)/g, (_all, _quote, target) =>
            inDist(locate(source, target)),
          )
          .replace(/\bimport\.meta\.url\b/g, `${inDist(source.replace(/\.ts$/, '.js'))}.href`)
          .replace(/\bimport\.meta\.dirname\b/g, `svcFileURLToPath(${inDist(posix.dirname(source))})`);
        return { contents, loader: 'ts', errors: errors.splice(0) };
      });
    },
  };
  return { plugin, named };
}

function inDist(path: string): string {
  return `new URL(${JSON.stringify(path)}, svcDistUrl)`;
}

export const commonJsNames = { __filename: 'svcFilename', __dirname: 'svcDirname' };

/**
 * The text of a file in dist/ with the names that it expects. Packages written as CommonJS expect `require`, `__filename`
 * and `__dirname`. The latter two have other names here, because a package written as a module may declare them itself.
 */
export function withNames(text: string, output: string): string {
  // Most files use none of them, and a command loads a hundred files.
  if (!/\b(require|svc(Filename|Dirname|DistUrl|FileURLToPath))\b/.test(text)) return text;
  const dist = '../'.repeat(output.split('/').length - 1) || './';
  return [
    `import { createRequire as svcCreateRequire } from 'node:module';`,
    `import { fileURLToPath as svcFileURLToPath } from 'node:url';`,
    `var require = svcCreateRequire(import.meta.url), svcFilename = import.meta.filename, svcDirname = import.meta.dirname;`,
    `var svcDistUrl = new URL(${JSON.stringify(dist)}, import.meta.url);`,
    text,
  ].join('\n');
}
