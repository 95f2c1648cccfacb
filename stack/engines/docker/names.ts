import type { Definition } from '../../settings/definition.ts';

/** What everything that is created in Docker says of itself. */
export const labels = {
  installation: 'svc.installation',
  /** Its folder when this was made. */
  folder: 'svc.folder',
  part: 'svc.part',
  hash: 'svc.config-hash',
  /** Of what runs without the rest of a platform. */
  alone: 'svc.alone',
  /** What the nodes of a cluster must have in common to speak with each other; only they have it. */
  peers: 'svc.peers-hash',
  /** Of the container that holds the volumes of a stopped platform: it is none of its parts. */
  holds: 'svc.holds-volumes-of',
} as const;

/** All that is created in Docker for an installation begins with this. */
export function prefixOf({ id }: Pick<Definition, 'id'>): string {
  return `svc-${id}`;
}

/** The container of a part. */
export function containerNameOf(part: string, of: Pick<Definition, 'id'>): string {
  return `${prefixOf(of)}-${part}`;
}

/** The id of the installation whose container of that part has that name. */
export function idIn(container: string, part: string): string {
  return container.slice(prefixOf({ id: '' }).length, -`-${part}`.length);
}
