import { setTimeout as pause } from 'node:timers/promises';
import { everyPage } from '../../client/every-page.ts';
import { createRoleMutation, rolesQuery, workspaceQuery } from '../../client/generated/operations.ts';
import type { Platform } from '../platform.ts';

const everyMs = 200;

/** Somebody who changes things all the while, and remembers each change that was acknowledged. */
export async function openWriter(platform: Platform) {
  const backend = () => platform.backend();
  const workspace = (await (await backend()).send(workspaceQuery, { name: 'Default' })).workspace?.id ?? '';
  const acknowledged: string[] = [];

  async function work(signal: AbortSignal): Promise<void> {
    for (let i = 0; !signal.aborted; i++) {
      const name = `written-${i}`;
      try {
        await (await backend()).send(createRoleMutation, { workspace, input: { name } }, { timeoutMs: 5000 });
        acknowledged.push(name);
      } catch {
        // Not acknowledged: it may be there or not.
      }
      await pause(everyMs, undefined, { signal }).catch(() => {});
    }
  }

  /** What was acknowledged and is not there. */
  async function lost(): Promise<readonly string[]> {
    const client = await backend();
    const roles = await everyPage(
      async (page) => (await client.send(rolesQuery, { workspace, ...page })).workspace?.roles,
    );
    const there = new Set(roles.map(({ name }) => name));
    return acknowledged.filter((name) => !there.has(name));
  }

  return { acknowledged, work, lost };
}
