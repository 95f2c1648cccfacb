import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

const licenceFile = /^(licen[cs]e|copying|notice)/i;

/** The licences of every package with a module in dist/, as text with their authors' names and terms. */
export function licencesOf(modules: Iterable<string>, root: string): string {
  const folders = new Set<string>();
  for (const module of modules) {
    const folder = packageFolder(module);
    if (folder !== null) folders.add(folder);
  }
  const sections = new Map([...folders].map((folder) => licenceOf(root, folder)));
  const sorted = [...sections].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([title, text]) => `${title}\n${'='.repeat(title.length)}\n\n${text.trim()}\n`).join('\n\n');
}

/** The modules that the programs contain, relative to the repository. */
export function modulesIn(metafile: Metafile): string[] {
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? [input] : [])),
  );
}

/** `node_modules/a/node_modules/@b/c/lib/d.js` belongs to the package `node_modules/a/node_modules/@b/c`. */
function packageFolder(input: string): string | null {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0] ?? null;
}

function licenceOf(root: string, folder: string): [title: string, text: string] {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  if (typeof name !== 'string' || typeof version !== 'string')
    throw new Error(`${folder}/package.json has no name or no version.`);
  const files = readdirSync(join(root, folder)).filter(
    (file) => licenceFile.test(file) && existsSync(join(root, folder, file)),
  );
  const texts = files.sort().map((file) => readFileSync(join(root, folder, file), 'utf8'));
  if (texts.length === 0 && typeof license !== 'string')
    throw new Error(`${name} ${version} names no licence, so it cannot be bundled.`);
  return [
    `${name} ${version}`,
    [`Licence: ${typeof license === 'string' ? license : 'see below'}`, ...texts].join('\n\n'),
  ];
}
