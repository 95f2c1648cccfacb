import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findId, type McpServerId, type RuntimeId, type WorkspaceId } from '../../contracts/ids.ts';
import { cachesOf, ownFoldersOf } from './child-place.ts';

/** An MCP server with a home, and the owner of the cache that it shares. */
export interface HomeOwner {
  readonly mcpServer: McpServerId;
  readonly workspace: WorkspaceId;
}

/**
 * Records the homes of each runtime's MCP servers, as a file `homes-of/<runtime>/<MCP server>` with the workspace. A
 * home stays while its MCP server is disabled or runs elsewhere, and is removed with it; the caches of a workspace are
 * removed with its last home. Runtimes of several platforms may share the folder, and only a home's own platform knows
 * whether its MCP server still exists.
 */
export class Homes {
  readonly #workingDir: string;
  readonly #noted = new Set<string>();

  constructor(workingDir: string) {
    this.#workingDir = workingDir;
  }

  /** Must be called before any of them is started. */
  async note(runtime: RuntimeId, owners: readonly HomeOwner[]): Promise<void> {
    await mkdir(this.#notesOf(runtime), { recursive: true, mode: 0o700 });
    for (const { mcpServer, workspace } of owners) {
      const file = path.join(this.#notesOf(runtime), mcpServer);
      if (!this.#noted.has(file)) await writeFile(file, workspace, { mode: 0o600 });
      this.#noted.add(file);
    }
  }

  /** In the order of their ids. */
  async of(runtime: RuntimeId): Promise<readonly McpServerId[]> {
    const names = await readdir(this.#notesOf(runtime)).catch(() => []);
    return names.flatMap((name) => findId('mcpServer', name) ?? []).sort();
  }

  /**
   * Removes the home of a removed MCP server without processes. The record goes last, so that an interrupted removal is
   * repeated.
   */
  async remove(runtime: RuntimeId, mcpServer: McpServerId): Promise<void> {
    const file = path.join(this.#notesOf(runtime), mcpServer);
    const workspace = await this.#findWorkspace(file);
    // Older versions kept temporary folders between starts.
    const temporary = ['tmp', 'member-tmp'].map((folder) => path.join(this.#workingDir, folder, mcpServer));
    for (const one of [...Object.values(ownFoldersOf(this.#workingDir, mcpServer)), ...temporary]) await removeAll(one);
    if (workspace !== null && !(await this.#isNotedBeside(file, workspace))) {
      for (const one of Object.values(cachesOf(this.#workingDir, workspace))) await removeAll(one);
    }
    await removeAll(file);
    this.#noted.delete(file);
  }

  async #isNotedBeside(file: string, workspace: WorkspaceId): Promise<boolean> {
    const folders = await readdir(this.#notes).catch(() => []);
    for (const folder of folders) {
      for (const name of await readdir(path.join(this.#notes, folder)).catch(() => [])) {
        const other = path.join(this.#notes, folder, name);
        if (other !== file && (await this.#findWorkspace(other)) === workspace) return true;
      }
    }
    return false;
  }

  async #findWorkspace(file: string): Promise<WorkspaceId | null> {
    return findId('workspace', await readFile(file, 'utf8').catch(() => ''));
  }

  get #notes(): string {
    return path.join(this.#workingDir, 'homes-of');
  }

  #notesOf(runtime: RuntimeId): string {
    return path.join(this.#notes, runtime);
  }
}

function removeAll(place: string): Promise<void> {
  return rm(place, { recursive: true, force: true, maxRetries: 3 });
}
