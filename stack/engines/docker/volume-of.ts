import type { Part } from '../../parts/part.ts';
import type { Definition } from '../../settings/definition.ts';
import { prefixOf } from './names.ts';

/** The name of a part's volume; null for a part that keeps no data. */
export function volumeOf({ keeps }: Pick<Part, 'keeps'>, definition: Pick<Definition, 'id'>): string | null {
  return keeps === null ? null : `${prefixOf(definition)}-${keeps.volume}`;
}

interface Parts {
  readonly parts: readonly Part[];
  readonly definition: Definition;
}

/** The volumes of all parts. */
export function volumesOf({ parts, definition }: Parts): readonly string[] {
  return parts.flatMap((part) => volumeOf(part, definition) ?? []);
}
