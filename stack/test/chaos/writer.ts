import { everyPage } from '../../client/every-page.ts';
import { rolesQuery, workspaceQuery } from '../../client/generated/operations.ts';
import { operatorTokens } from '../../client/operator-token.ts';
import type { Platform } from '../platform.ts';
import { again, makeRole } from '../use.ts';

/** Somebody who makes roles until the end. Returns how many were acknowledged, and which of them are not there afterwards. */
export async function writeUntil(ending: AbortSignal, platform: Platform) {
  const backend = await platform.backend();
  const workspace = (await backend.send(workspaceQuery, { name: 'Default' })).workspace?.id ?? '';
  let count = 0;
  const writing = {
    url: `http://127.0.0.1:${platform.ports.backend}`,
    token: operatorTokens(platform.installation, undefined),
    workspace,
    name: () => `written-${count++}`,
  };
  const attempts = await again(() => makeRole(writing), ending);
  const acknowledged = attempts.flatMap(({ of, outcome }) => (outcome === 'done' ? [of] : []));
  const roles = await everyPage(
    async (page) => (await backend.send(rolesQuery, { workspace, ...page })).workspace?.roles,
  );
  const there = new Set(roles.map(({ name }) => name));
  return { acknowledged: acknowledged.length, lost: acknowledged.filter((name) => !there.has(name)) };
}
