import { join } from 'node:path';
import type { Engine } from '../../settings/choices.ts';
import { repository } from './processes.ts';

/** The demo's MCP server, as each engine finds it. */
export const demoServers: Readonly<Record<Engine, string>> = {
  docker: '/svc/dist/templates/demo/server.mjs',
  process: join(repository, 'templates/demo/server.mjs'),
};
