import type { Key } from './keys.ts';

const fields = {
  name: ({ name }) => name,
  roles: ({ roles }) => roles?.map(({ id }) => id).sort() ?? null,
  disclosure: ({ disclosure }) => disclosure,
  expires: ({ expiresAt }) => expiresAt,
} as const satisfies Record<string, (key: Key) => unknown>;

/** The flags of `keys update` whose value changed. */
export function changesOf(before: Key, after: Key): readonly string[] {
  return Object.entries(fields).flatMap(([name, read]) =>
    JSON.stringify(read(before)) === JSON.stringify(read(after)) ? [] : [name],
  );
}

export function describeChange({
  name,
  changed,
}: {
  readonly name: string;
  readonly changed: readonly string[];
}): string {
  return changed.length === 0
    ? `Nothing to change: the key ${name} is like this already.`
    : `Changed key ${name}: ${changed.join(', ')}.`;
}
