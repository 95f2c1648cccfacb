import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPagesServer } from './bundle/pages-server.ts';

/** `npm run pages`: serves the pages from their sources. `/dev/components` has every building block in all its states. */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const server = await startPagesServer(root, { backendUrl: process.env.BUILD_PUBLIC_BACKEND_URL });
process.stdout.write(`${server.resolvedUrls?.local[0] ?? ''}dev/components\n`);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void server.close().then(() => process.exit()));
}
