import type { Part } from '../../parts/part.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Definition } from '../../settings/definition.ts';
import type { ContainersRecord } from '../../state/containers-record.ts';

export const labels = {
  installation: 'svc.installation',
  /** The folder of the installation at that time. */
  folder: 'svc.folder',
  part: 'svc.part',
  hash: 'svc.config-hash',
  /** On a container that one command runs and removes. The next command removes what a killed one left. */
  alone: 'svc.alone',
  /** On the container that holds the volumes of a stopped platform. It is no part. */
  holds: 'svc.holds-volumes-of',
} as const;

export function prefixOf({ id }: Pick<Definition, 'id'>): string {
  return `svc-${id}`;
}

export function containerNameOf(part: string, of: Pick<Definition, 'id'>): string {
  return `${prefixOf(of)}-${part}`;
}

/** The id of the installation that a record is about, read from the name of a container. */
export function idIn({ services: [first] }: Pick<ContainersRecord, 'services'>): string {
  return first === undefined ? '' : first.container.slice(prefixOf({ id: '' }).length, -`-${first.name}`.length);
}

/** The volume of a part; null for a part that keeps no data. */
export function volumeOf({ keeps }: Pick<Part, 'keeps'>, definition: Pick<Definition, 'id'>): string | null {
  return keeps === null ? null : `${prefixOf(definition)}-${keeps.volume}`;
}

export function volumesOf({ parts, definition }: Pick<Plan, 'parts' | 'definition'>): readonly string[] {
  return parts.flatMap((part) => volumeOf(part, definition) ?? []);
}
