import { parseId } from '../../contracts/ids.ts';
import type { Secret } from '../../contracts/secret.ts';
import type { GraphContent } from '../graph/content.ts';
import { platformHome } from '../graph/platform-home.ts';

import { openSecrets } from '../secrets/secrets.ts';
import { decryptLaunch } from './launch.ts';

/** A folder in which the platform's own runtimes start an MCP server. */
export interface WorkingFolder {
  readonly folder: string;
  /** Its name. */
  readonly mcpServer: string;
}

/** Reads a stored graph with the key of its secrets. Other runtimes have their own folders. */
export async function readWorkingFolders(
  content: Pick<GraphContent, 'nodes' | 'edges'>,
  encryptionKey: Secret,
): Promise<readonly WorkingFolder[]> {
  const secrets = openSecrets({ present: encryptionKey, previous: undefined });
  const elsewhere = new Set<string>();
  for await (const { id, values } of content.nodes('runtime')) if (values.home !== platformHome) elsewhere.add(id);
  const away = new Set<string>();
  for await (const { source, target } of content.edges('mcpServer', 'runtimes')) {
    if (elsewhere.has(target)) away.add(source);
  }
  const folders: WorkingFolder[] = [];
  for await (const { id, values } of content.nodes('mcpServer')) {
    if (away.has(id)) continue;
    const { launch } = decryptLaunch(secrets, { id: parseId('mcpServer', id), launch: String(values.launch) });
    if (launch.kind === 'child' && launch.cwd !== null) {
      folders.push({ folder: launch.cwd, mcpServer: String(values.name) });
    }
  }
  return folders;
}
