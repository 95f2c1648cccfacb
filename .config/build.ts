import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from './bundle/bundle.ts';
import { fingerprintOf, isCurrent, recordBuild } from './bundle/fingerprint.ts';
import { licencesOf, modulesIn } from './bundle/licenses.ts';
import { commandManifest } from './bundle/manifest.ts';
import { bundlePages } from './bundle/pages.ts';

/**
 * `npm run build`: makes dist/, the content of the published package. With --if-changed, only if a source has changed.
 */
const repository = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({
  options: { 'if-changed': { type: 'boolean', default: false }, root: { type: 'string', default: repository } },
});
const root = resolve(values.root);
const dist = join(root, 'dist');
const applySchemaModule = 'stack/apply/json-schema.ts';

const backendUrl = process.env.BUILD_PUBLIC_BACKEND_URL;

const fingerprint = fingerprintOf(root, backendUrl);
if (!values['if-changed'] || !isCurrent(root, fingerprint)) {
  const started = performance.now();
  try {
    const files = await build();
    recordBuild(root, { fingerprint, files });
    process.stderr.write(`Built dist/ in ${((performance.now() - started) / 1000).toFixed(1)} s.\n`);
  } catch (error) {
    process.stderr.write(`dist/ was not built: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

/**
 * Writes shared chunks first, then their importers, and removes other files last, so that a platform that runs from
 * dist/ keeps working.
 */
async function build(): Promise<string[]> {
  const { modules, data, metafile } = await bundle(root);
  const pages = await bundlePages(root, backendUrl);
  const written: string[] = [];
  const write = (path: string, content: string | Buffer) => {
    writeIfDifferent(join(root, path), Buffer.from(content));
    written.push(path);
  };
  for (const path of data) write(`dist/${path}`, readFileSync(join(root, path)));
  for (const [path, text] of [...modules].sort(chunksFirst)) write(`dist/${path}`, text);
  for (const [path, content] of pages.files) write(`dist/${path}`, content);
  write('dist/licenses.txt', licencesOf([...modulesIn(metafile), ...pages.modules], root));
  if (existsSync(join(root, applySchemaModule))) write('dist/schemas/apply.schema.json', await applySchema());
  if (existsSync(join(root, 'cli/svc.cjs'))) {
    write('dist/svc.cjs', startedByShell(readFileSync(join(root, 'cli/svc.cjs'), 'utf8')));
    chmodSync(join(dist, 'svc.cjs'), 0o755);
  }
  removeAllBut(new Set(written));
  const manifest = await commandManifest(root);
  if (manifest !== null) write('oclif.manifest.json', manifest);
  return written;
}

/**
 * A shell starts Node with `--` before the program. Otherwise Node itself would read the file of a mistyped `--env-file`,
 * and would end with its own message if there is none. JavaScript reads the line of the shell as a string and a comment.
 */
function startedByShell(program: string): string {
  return program.replace(/^#!.*\n/, `#!/bin/sh\n':' //; exec node -- "$0" "$@"\n`);
}

async function applySchema(): Promise<string> {
  const { applyFileJsonSchema } = await import(pathToFileURL(join(root, applySchemaModule)).href);
  return `${JSON.stringify(applyFileJsonSchema(), null, 2)}\n`;
}

function chunksFirst([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return Number(b.startsWith('chunks/')) - Number(a.startsWith('chunks/'));
}

function writeIfDifferent(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path) || !readFileSync(path).equals(content)) writeFileSync(path, content);
}

function removeAllBut(written: ReadonlySet<string>): void {
  for (const entry of globSync('dist/**/*', { cwd: root, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(root.length + 1);
    if (entry.isFile() && !written.has(path)) rmSync(join(root, path));
  }
}
