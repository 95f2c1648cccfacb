import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findId, type McpServerId, type RuntimeId } from '../../contracts/ids.ts';
import { placesOf } from './child-environment.ts';

/**
 * Records the homes of each runtime's MCP servers, as an empty file `homes-of/<runtime>/<MCP server>`. A home stays
 * while its MCP server is disabled or runs elsewhere, and is removed with it. Runtimes of several platforms may share
 * the folder, and only a home's own platform knows whether its MCP server still exists.
 */
export class Homes {
  readonly #workingDir: string;
  readonly #noted = new Set<string>();

  constructor(workingDir: string) {
    this.#workingDir = workingDir;
  }

  /** Must be called before any of them is started. */
  async note(runtime: RuntimeId, mcpServers: readonly McpServerId[]): Promise<void> {
    await mkdir(this.#notesOf(runtime), { recursive: true, mode: 0o700 });
    for (const mcpServer of mcpServers) {
      const file = path.join(this.#notesOf(runtime), mcpServer);
      if (!this.#noted.has(file)) await writeFile(file, '', { mode: 0o600 });
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
    const places = Object.values(placesOf(this.#workingDir, mcpServer));
    const file = path.join(this.#notesOf(runtime), mcpServer);
    for (const one of [...places.flatMap(({ home, temporary }) => [home, temporary]), file])
      await rm(one, { recursive: true, force: true, maxRetries: 3 });
    this.#noted.delete(file);
  }

  #notesOf(runtime: RuntimeId): string {
    return path.join(this.#workingDir, 'homes-of', runtime);
  }
}
