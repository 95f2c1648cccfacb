import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { everyPage } from '../../client/every-page.ts';
import { rolesQuery } from '../../client/generated/operations.ts';
import type { ChaosPlatform } from './chaos-platform.ts';

const workspaces = z.object({ workspaces: z.object({ nodes: z.array(z.object({ id: z.string() })) }) });
const created = z.object({ createRole: z.object({ name: z.string() }) });

const everyMs = 200;

/** Somebody who changes things all the while, and remembers each change that was acknowledged. */
export class Writer {
  readonly #platform: ChaosPlatform;
  readonly #workspace: string;
  readonly acknowledged: string[] = [];

  private constructor(platform: ChaosPlatform, workspace: string) {
    this.#platform = platform;
    this.#workspace = workspace;
  }

  static async open(platform: ChaosPlatform): Promise<Writer> {
    const backend = await platform.backend();
    const found = await backend.query('{ workspaces(first: 1) { nodes { id } } }', {}, workspaces.parse);
    return new Writer(platform, found.workspaces.nodes[0]?.id ?? '');
  }

  async work(signal: AbortSignal): Promise<void> {
    for (let i = 0; !signal.aborted; i++) {
      const name = `written-${i}`;
      try {
        const backend = await this.#platform.backend();
        const document =
          'mutation ($w: ID!, $name: String!) { createRole(workspace: $w, input: { name: $name }) { name } }';
        await backend.query(document, { w: this.#workspace, name }, created.parse, { timeoutMs: 5000 });
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
