import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { snippetsFor } from '../contracts/clients/snippet.ts';
import type { Config } from './config.ts';

/** All files of the frontend, ready to send. */
export interface Page {
  /** By path. */
  readonly files: ReadonlyMap<string, ServedFile>;
  /** The value of the Content-Security-Policy header (CSP 3). */
  readonly contentSecurityPolicy: string;
}

export interface ServedFile {
  readonly type: string;
  readonly body: Buffer;
  readonly entityTag: string;
  /** Its path changes with its content, so that it may be kept forever. */
  readonly immutable: boolean;
}

export async function readPage(config: Pick<Config, 'backendUrl' | 'mcpUrl'>): Promise<Page> {
  const [html, css, js, icon] = await Promise.all([
    readFile(new URL('./page/index.html', import.meta.url), 'utf8'),
    readFile(new URL('./page/page.css', import.meta.url)),
    readFile(new URL('./page/page.js', import.meta.url)),
    readFile(new URL('./page/icon.svg', import.meta.url)),
  ]);
  const environment = environmentScript({ PUBLIC_BACKEND_URL: config.backendUrl, PUBLIC_MCP_URL: config.mcpUrl });
  const clients = jsonInScript(snippetsFor(config.mcpUrl));
  const assets = {
    css: { path: `/assets/page-${shortHash(css)}.css`, type: 'text/css; charset=utf-8', body: css },
    js: { path: `/assets/page-${shortHash(js)}.js`, type: 'text/javascript; charset=utf-8', body: js },
    icon: { path: `/assets/icon-${shortHash(icon)}.svg`, type: 'image/svg+xml', body: icon },
  };
  const index = html
    .replace('<!-- environment -->', () => `<script>${environment}</script>`)
    .replace('<!-- clients -->', () => `<script type="application/json" id="clients">${clients}</script>`)
    .replaceAll('{{CSS}}', assets.css.path)
    .replaceAll('{{JS}}', assets.js.path)
    .replaceAll('{{ICON}}', assets.icon.path);
  const served = (type: string, body: Buffer, immutable: boolean): ServedFile => ({
    type,
    body,
    entityTag: `"${shortHash(body)}"`,
    immutable,
  });
  const files = new Map([['/', served('text/html; charset=utf-8', Buffer.from(index), false)]]);
  for (const { path, type, body } of Object.values(assets)) files.set(path, served(type, body, true));
  return { files, contentSecurityPolicy: contentSecurityPolicy(config, environment) };
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

/** Only listed sources may run or be contacted. The one inline script is allowed by its hash. */
function contentSecurityPolicy(
  { backendUrl, mcpUrl }: Pick<Config, 'backendUrl' | 'mcpUrl'>,
  environment: string,
): string {
  const hash = createHash('sha256').update(environment).digest('base64');
  const connect = [...new Set([new URL(backendUrl).origin, new URL(mcpUrl).origin])].join(' ');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self'",
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function shortHash(body: Buffer): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 16);
}
