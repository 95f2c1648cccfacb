import { createServer, type ViteDevServer } from 'vite';
import { pagesConfig } from './pages.ts';

export interface PagesServerOptions {
  readonly backendUrl?: string | undefined;
  /** Default: 5173, or the next free one. */
  readonly port?: number;
}

/** The development server of the pages, which serves them from their sources. */
export async function startPagesServer(root: string, options: PagesServerOptions = {}): Promise<ViteDevServer> {
  const { backendUrl = 'http://localhost:3000', port } = options;
  const config = pagesConfig(root, backendUrl);
  // The frontend's process writes it into the document otherwise.
  const values = { PUBLIC_BACKEND_URL: backendUrl, PUBLIC_MCP_URL: 'http://localhost:3001/mcp' };
  const script = `<script>window.__ENV__ = ${JSON.stringify(values).replaceAll('<', '\\u003c')}</script>`;
  const environment = {
    name: 'environment',
    transformIndexHtml: (html: string) => html.replace('<!-- environment -->', () => script),
  };
  const server = await createServer({
    ...config,
    mode: 'development',
    plugins: [...(config.plugins ?? []), environment],
    server: port === undefined ? {} : { port },
  });
  return await server.listen();
}
