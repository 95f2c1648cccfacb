import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { build, type InlineConfig, type Rolldown } from 'vite';

export interface Pages {
  /** By path relative to dist/. */
  readonly files: ReadonlyMap<string, string | Buffer>;
  /** Modules in the pages, relative to the repository. */
  readonly modules: readonly string[];
}

const sources = 'services/frontend';
/** Beside the process that serves it. */
const output = 'services/frontend/page';
const defaultBackendUrl = 'http://localhost:3000';
/** Other assets are compressed by their format. */
const compressible = /\.(js|css|svg)$/;

/** The pages of the frontend, with each asset compressed once for all requests. None without their sources. */
export async function bundlePages(root: string, backendUrl = defaultBackendUrl): Promise<Pages> {
  if (!existsSync(join(root, sources, 'index.html'))) return { files: new Map(), modules: [] };
  const files = new Map<string, string | Buffer>();
  const modules = new Set<string>();
  for (const file of await outputsOf(root, backendUrl)) {
    const content = file.type === 'chunk' ? file.code : file.source;
    const bytes = Buffer.from(content);
    files.set(`${output}/${file.fileName}`, bytes);
    if (compressible.test(file.fileName)) {
      files.set(`${output}/${file.fileName}.br`, brotli(bytes));
      files.set(`${output}/${file.fileName}.gz`, gzipSync(bytes, { level: 9 }));
    }
    const named = file.type === 'chunk' ? file.moduleIds : file.originalFileNames;
    for (const id of named) modules.add(inRepository(root, id));
  }
  return { files, modules: [...modules, ...importedStyles(root)] };
}

/** Also the base of the development server in pages-server.ts. */
export function pagesConfig(root: string, backendUrl = defaultBackendUrl): InlineConfig {
  const backend = {
    name: 'backend-url',
    transformIndexHtml: (html: string) => html.replace('{{BUILD_PUBLIC_BACKEND_URL}}', () => escapeHtml(backendUrl)),
  };
  return {
    root: join(root, sources),
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    cacheDir: join(root, 'node_modules/.cache/svc/pages'),
    plugins: [react(), tailwind(), backend],
  };
}

async function outputsOf(
  root: string,
  backendUrl: string,
): Promise<readonly (Rolldown.OutputChunk | Rolldown.OutputAsset)[]> {
  const result = await build({
    ...pagesConfig(root, backendUrl),
    mode: 'production',
    build: {
      write: false,
      // An inlined asset would need a weaker policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      target: 'es2023',
      chunkSizeWarningLimit: 1000,
    },
  });
  const [first] = Array.isArray(result) ? result : [result];
  if (first === undefined || !('output' in first)) throw new Error('The build of the pages has no output.');
  return first.output;
}

/** The style sheets of packages, which the bundler writes into those that import them without naming them. */
function importedStyles(root: string): string[] {
  const sheets = globSync(`${sources}/**/*.css`, { cwd: root });
  const imports = sheets.flatMap((path) => [
    ...readFileSync(join(root, path), 'utf8').matchAll(/@import "([^".][^"]*)"/g),
  ]);
  return imports.map(([, name]) => `node_modules/${name}`);
}

function brotli(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

/** Ids of bundled modules are absolute paths; those that a plugin makes up start with a zero byte. */
function inRepository(root: string, id: string): string {
  const [path = ''] = id.replace(/^\0/, '').split('?');
  return relative(root, path.startsWith('/') ? path : join(root, sources, path))
    .split(sep)
    .join('/');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
