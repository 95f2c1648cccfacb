import { setTimeout as pause } from 'node:timers/promises';
import { everyPage } from '../../client/every-page.ts';
import { createRoleMutation, rolesQuery, workspaceQuery } from '../../client/generated/operations.ts';
import type { Platform } from '../platform.ts';

const everyMs = 100;

/**
 * Creates roles until the end. Returns the number of acknowledged roles, and those of them that are missing
 * afterwards.
 */
export async function writeUntil(ending: AbortSignal, platform: Platform) {
  const backend = await platform.backend();
  const workspace = (await backend.send(workspaceQuery, { name: 'Default' })).workspace?.id ?? '';
  const acknowledged: string[] = [];
  for (let i = 0; !ending.aborted; i++) {
    const name = `written-${i}`;
    await backend.send(createRoleMutation, { workspace, input: { name } }, { timeoutMs: 5000 }).then(
      () => acknowledged.push(name),
      // The role may exist or not.
      () => undefined,
    );
    await pause(everyMs, undefined, { signal: ending }).catch(() => undefined);
  }
  const roles = await everyPage(
    async (page) => (await backend.send(rolesQuery, { workspace, ...page })).workspace?.roles,
  );
  const there = new Set(roles.map(({ name }) => name));
  return { acknowledged: acknowledged.length, lost: acknowledged.filter((name) => !there.has(name)) };
}
