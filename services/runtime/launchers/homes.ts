import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findId, type McpServerId, type RuntimeId } from '../../contracts/ids.ts';
import { placesOf } from './child-environment.ts';

/**
 * Whose homes there are. A home is kept between starts and while its MCP server is turned off or runs elsewhere; it goes with the MCP
 * server. Runtimes of other platforms may use the same working directory, and only a home's own platform knows what became of its MCP
 * server, so each runtime notes which are its own: `homes-of/<runtime>/<MCP server>`, an empty file.
 */
export class Homes {
  readonly #workingDir: string;
  readonly #noted = new Set<string>();

  constructor(workingDir: string) {
    this.#workingDir = workingDir;
  }

  /** To be called before any of them is started. */
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

  /** Its MCP server is no more, and nothing of it runs. The note goes last: what is interrupted is done again. */
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
