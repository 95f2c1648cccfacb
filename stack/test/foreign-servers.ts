import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** MCP servers of other authors, as commands that run without a download. */
export const foreignServers = {
  everything: [process.execPath, packaged('server-everything'), 'stdio'],
  /** Reads and writes below the folder in the next argument. */
  filesystem: [process.execPath, packaged('server-filesystem')],
  /** Stores its knowledge in the file that MEMORY_FILE_PATH names. */
  memory: [process.execPath, packaged('server-memory')],
} as const;

/** The command of a child process that misbehaves in one way. */
export function misbehaving(name: string): readonly string[] {
  return [process.execPath, join(repository, 'services/runtime/test/children', `${name}.mjs`)];
}

function packaged(name: string): string {
  return join(repository, 'node_modules/@modelcontextprotocol', name, 'dist/index.js');
}
