import type { Definition } from '../definition/definition.ts';

/** Whether something stands in front of the remote-mcps. One alone is reached by itself. */
export function hasFront({ topology, replicas }: Definition): boolean {
  return topology === 'distributed' && replicas['remote-mcp'] > 1;
}
