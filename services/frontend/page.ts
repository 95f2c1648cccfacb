import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Config } from './config.ts';

/** All files of the frontend, ready to send. */
export interface Page {
  /** The one document of all places: the browser's part of the application chooses by the path. */
  readonly index: ServedFile;
  /** By path. */
  readonly assets: ReadonlyMap<string, ServedFile>;
  /** The value of the Content-Security-Policy header (CSP 3). */
  readonly contentSecurityPolicy: string;
}

export interface ServedFile {
  readonly type: string;
  readonly body: Buffer;
  readonly encoded: readonly EncodedBody[];
  readonly entityTag: string;
  /** Its path changes with its content, so that it may be kept forever. */
  readonly immutable: boolean;
}

interface EncodedBody {
  readonly encoding: 'br' | 'gzip';
  readonly body: Buffer;
}

/** The output of the build: beside this file in dist/. Sources use the last build. */
const folders = [join(import.meta.dirname, 'page'), join(import.meta.dirname, '../../dist/services/frontend/page')];

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** The best one first. */
const encodings = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
] as const;

export async function readPage(config: Pick<Config, 'backendUrl' | 'mcpUrl' | 'keysUrl'>): Promise<Page> {
  const folder = folders.find((path) => existsSync(join(path, 'index.html')));
  if (folder === undefined) throw new Error('The pages of the frontend are not built. Build them: npm run build');
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  const backendUrl = config.backendUrl ?? builtBackendUrl(html);
  const environment = environmentScript({
    ...{ PUBLIC_BACKEND_URL: backendUrl, PUBLIC_MCP_URL: config.mcpUrl },
    ...(config.keysUrl === null ? {} : { PUBLIC_MCP_KEYS_URL: config.keysUrl }),
  });
  const document = html.replace('<!-- environment -->', () => `<script>${environment}</script>`);
  const body = Buffer.from(document);
  return {
    index: {
      type: 'text/html; charset=utf-8',
      body,
      encoded: [
        { encoding: 'br', body: brotliCompressSync(body) },
        { encoding: 'gzip', body: gzipSync(body) },
      ],
      entityTag: entityTagOf(body),
      immutable: false,
    },
    assets: await readAssets(folder),
    contentSecurityPolicy: contentSecurityPolicy(document, { backendUrl, mcpUrl: config.mcpUrl }),
  };
}

/** The build writes the address into the document as escaped text of an attribute. */
function builtBackendUrl(html: string): string {
  const content = /<meta name="backend" content="([^"]*)"/.exec(html)?.[1] ?? '';
  return content.replace(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code)));
}

async function readAssets(folder: string): Promise<ReadonlyMap<string, ServedFile>> {
  const names = new Set(await readdir(join(folder, 'assets')));
  const assets = new Map<string, ServedFile>();
  for (const name of names) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const read = (file: string) => readFile(join(folder, 'assets', file));
    const compressed = encodings.filter(({ ending }) => names.has(name + ending));
    const encoded = compressed.map(async ({ encoding, ending }) => ({ encoding, body: await read(name + ending) }));
    const body = await read(name);
    const entityTag = entityTagOf(body);
    assets.set(`/assets/${name}`, { type, body, encoded: await Promise.all(encoded), entityTag, immutable: true });
  }
  return assets;
}

function environmentScript(env: Readonly<Record<string, string>>): string {
  return `window.__ENV__=${jsonInScript(env)};`;
}

/** JSON is JavaScript; escaped so that no value of it can end its script element. */
function jsonInScript(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Only listed sources may run or be contacted. Each inline script is allowed by its hash. */
function contentSecurityPolicy(
  document: string,
  { backendUrl, mcpUrl }: { readonly backendUrl: string; readonly mcpUrl: string },
): string {
  const inline = [...document.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => script);
  const hashes = inline.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  const backend = new URL(backendUrl).origin;
  const connect = new Set([backend, backend.replace(/^http/, 'ws'), new URL(mcpUrl).origin]);
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    "style-src 'self'",
    // The images in results of tools.
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${[...connect].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function entityTagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;
}
