import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** MCP servers that nobody here wrote, as commands that run them without fetching anything. */
export const foreignServers = {
  everything: [process.execPath, packaged('server-everything'), 'stdio'],
  /** Reads and writes below the folder that follows. */
  filesystem: [process.execPath, packaged('server-filesystem')],
  /** Keeps what it learns in the file that MEMORY_FILE_PATH names. */
  memory: [process.execPath, packaged('server-memory')],
} as const;

/** Children that misbehave in one way each. */
export function misbehaving(name: string): readonly string[] {
  return [process.execPath, join(repository, 'services/runtime/test/children', `${name}.mjs`)];
}

function packaged(name: string): string {
  return join(repository, 'node_modules/@modelcontextprotocol', name, 'dist/index.js');
}
