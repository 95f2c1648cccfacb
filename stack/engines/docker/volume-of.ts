import type { Definition } from '../../definition/definition.ts';
import type { Part } from '../../part.ts';
import { prefixOf } from './names.ts';

/** The volume of a part, by name; null for what keeps nothing. */
export function volumeOf({ name, service }: Pick<Part, 'name' | 'service'>, definition: Definition): string | null {
  return keepsData(service, definition) ? `${prefixOf(definition)}-${name}` : null;
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
