import { SvcError } from '../../services/contracts/errors.ts';
import type { BackendClient } from '../../stack/client/backend-client.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import { type KeyFragment, keysQuery, usageOfHourQuery } from '../../stack/client/generated/operations.ts';
import { named } from './platform.ts';

export type Key = KeyFragment;

export function fetchKeys(backend: BackendClient, workspace: string): Promise<Key[]> {
  return everyPage(async (page) => (await backend.send(keysQuery, { workspace, ...page })).workspace?.keys);
}

/** By id or by name. Several keys may have had a name: the one in use counts, else the newest. */
export function keyNamed(keys: readonly Key[], given: string): Key {
  const replaced = replacedIds(keys);
  const rank = (key: Key) => (key.state === 'revoked' ? 2 : replaced.has(key.id) ? 1 : 0);
  return named(
    'key',
    keys.toSorted((one, other) => rank(one) - rank(other) || other.createdAt - one.createdAt),
    given,
  );
}

/** The valid key that a new one of the same name is refused for. A replaced key has no name of its own any more. */
export function findHolder(keys: readonly Key[], name: string): Key | null {
  const replaced = new Set(keys.map(({ replaces }) => replaces?.id));
  const isHolder = (key: Key) => key.name === name.trim() && key.state === 'valid' && !replaced.has(key.id);
  return keys.find(isHolder) ?? null;
}

/** Throws as the backend does when another key has the name. */
export function refuseTaken(keys: readonly Key[], name: string): void {
  const holder = findHolder(keys, name);
  if (holder === null) return;
  throw new SvcError('conflict', `A key named "${holder.name}" exists already.`, {
    hint: `Choose another name, or replace that key by a new one: svc keys rotate "${holder.name}"`,
  });
}

/** Ids of the valid keys that another key replaces. */
export function replacedIds(keys: readonly Key[]): ReadonlySet<string> {
  return new Set(
    keys.flatMap(({ state, replaces }) => (replaces === null || state === 'revoked' ? [] : [replaces.id])),
  );
}

const hourMs = 60 * 60 * 1000;

/** The tools that a key called in the hour of its last use, as sentences; empty if it called none. */
export async function lastCalls(
  backend: BackendClient,
  workspace: string,
  key: { readonly id: string; readonly lastUsedAt: number | null },
): Promise<readonly string[]> {
  if (key.lastUsedAt === null) return [];
  const from = Math.floor(key.lastUsedAt / hourMs) * hourMs;
  const hour = { workspace, from, to: from + hourMs };
  const rows = await everyPage(
    async (page) => (await backend.send(usageOfHourQuery, { ...hour, ...page })).workspace?.usage,
  );
  const own = rows.filter(({ keyId }) => keyId === key.id);
  return [...new Set(own.map(({ tool, mcpServer }) => `${tool} of the MCP server ${mcpServer}`))];
}
