import { setTimeout as pause } from 'node:timers/promises';
import { everyPage } from '../../client/every-page.ts';
import { createRoleMutation, rolesQuery, workspaceQuery } from '../../client/generated/operations.ts';
import type { Platform } from '../platform.ts';

const everyMs = 200;

/** Somebody who changes things all the while, and remembers each change that was acknowledged. */
export class Writer {
  readonly #platform: Platform;
  readonly #workspace: string;
  readonly acknowledged: string[] = [];

  private constructor(platform: Platform, workspace: string) {
    this.#platform = platform;
    this.#workspace = workspace;
  }

  static async open(platform: Platform): Promise<Writer> {
    const { workspace } = await (await platform.backend()).send(workspaceQuery, { name: 'Default' });
    return new Writer(platform, workspace?.id ?? '');
  }

  async work(signal: AbortSignal): Promise<void> {
    for (let i = 0; !signal.aborted; i++) {
      const name = `written-${i}`;
      try {
        const backend = await this.#platform.backend();
        const variables = { workspace: this.#workspace, input: { name } };
        await backend.send(createRoleMutation, variables, { timeoutMs: 5000 });
        this.acknowledged.push(name);
      } catch {
        // Not acknowledged: it may be there or not.
      }
      await pause(everyMs, undefined, { signal }).catch(() => {});
    }
  }

  /** What was acknowledged and is not there. */
  async lost(): Promise<readonly string[]> {
    const backend = await this.#platform.backend();
    const workspace = this.#workspace;
    const roles = await everyPage(
      async (page) => (await backend.send(rolesQuery, { workspace, ...page })).workspace?.roles,
    );
    const there = new Set(roles.map(({ name }) => name));
    return this.acknowledged.filter((name) => !there.has(name));
  }
}
