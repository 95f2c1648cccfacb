import { disclosureWords } from '../keys/key-disclosure.ts';
import { type Key, replacedIds } from '../objects/keys.ts';
import { facts, spare, table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { ago, isoOrNull } from './times-and-sizes.ts';

const words = { valid: 'valid', expired: 'Expired', revoked: 'revoked', replaced: 'being replaced' } as const;
const colours = { valid: 'green', expired: 'red', revoked: 'grey', replaced: 'yellow' } as const;

/** A key for programs. */
export function keyForPrograms({ firstUsedAt: _first, lastUsedStepMs: _step, version: _version, ...key }: Key) {
  return {
    ...key,
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
    createdAt: isoOrNull(key.createdAt),
    roles: key.roles ?? 'all',
    replaces: key.replaces === null ? null : { id: key.replaces.id, hint: key.replaces.hint },
  };
}

export function describeKeys(keys: readonly Key[], terminal: Terminal): string {
  const replaced = replacedIds(keys);
  const rows = keys.map((key) => [
    key.name,
    key.hint,
    stateOf(key, replaced, terminal),
    rolesOf(key),
    disclosureWords[key.disclosure],
    isoOrNull(key.expiresAt) ?? 'never',
    ago(key.lastUsedAt),
    key.id,
  ]);
  const columns = ['NAME', 'KEY', 'STATE', 'ROLES', spare('TOOLS LISTED'), 'EXPIRES', spare('LAST USED'), spare('ID')];
  const names = [...new Set(keys.filter(({ id }) => replaced.has(id)).map(({ name }) => name))];
  const finish = names.map((name) => `End the key that is being replaced: svc keys rotate ${name} --finish`);
  return [table(columns, rows, terminal.columns), ...finish].join('\n');
}

export function describeKey(key: Key, keys: readonly Key[], terminal: Terminal): string {
  const newer = keys.find(({ replaces }) => replaces?.id === key.id);
  const pairs: (readonly [string, string])[] = [
    ['name', key.name],
    ['id', key.id],
    ['key', key.hint],
    ['state', stateOf(key, replacedIds(keys), terminal)],
    ['roles', rolesOf(key)],
    ['tools listed', `${disclosureWords[key.disclosure]} (disclosure ${key.disclosure})`],
    ['expires', isoOrNull(key.expiresAt) ?? 'never'],
    ['created', `${isoOrNull(key.createdAt)}`],
    ['last used', ago(key.lastUsedAt)],
    ...(key.revokedAt === null ? [] : [['revoked', `${isoOrNull(key.revokedAt)}`] as const]),
    ...(key.replaces === null ? [] : [['replaces', `${key.replaces.hint} (${key.replaces.id}), still valid`] as const]),
    ...(newer === undefined ? [] : [['replaced by', `${newer.hint} (${newer.id})`] as const]),
  ];
  return facts(pairs, terminal);
}

function stateOf(key: Key, replaced: ReadonlySet<string>, terminal: Terminal): string {
  const state = replaced.has(key.id) ? 'replaced' : key.state;
  return terminal.paint(colours[state], words[state]);
}

function rolesOf({ roles }: Key): string {
  if (roles === null) return 'all';
  return roles.length === 0 ? 'none' : roles.map(({ name }) => name).join(', ');
}
