import type { Part } from '../../part.ts';
import type { Definition } from '../../settings/definition.ts';
import { prefixOf } from './names.ts';

/** The volume of a part, by name; null for what keeps nothing. The first of several nodes of NATS has another than one alone. */
export function volumeOf({ name, service }: Pick<Part, 'name' | 'service'>, definition: Definition): string | null {
  if (!keepsData(service, definition)) return null;
  const isFirst = name === 'nats' && definition.replicas.nats > 1;
  return `${prefixOf(definition)}-${isFirst ? `${name}-1` : name}`;
}

interface Parts {
  readonly parts: readonly Part[];
  readonly definition: Definition;
}

/** Those of all parts. */
export function volumesOf({ parts, definition }: Parts): readonly string[] {
  return parts.flatMap((part) => volumeOf(part, definition) ?? []);
}

function keepsData(service: Part['service'], { graph, public: { tls } }: Definition): boolean {
  switch (service) {
    case 'backend':
      return graph === 'sqlite';
    case 'caddy':
      return tls === 'acme';
    case 'remote-mcp':
    case 'frontend':
      return false;
    case 'runtime':
    case 'nats':
    case 'dgraph-zero':
    case 'dgraph-alpha':
      return true;
  }
}
