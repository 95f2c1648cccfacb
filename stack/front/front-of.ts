import type { Definition } from '../definition/definition.ts';

/** What the front stands before: everything under one host name, or several remote-mcps under the address of one. Null where there is none. */
export function frontOf({ topology, replicas, public: { host } }: Definition): 'one-host' | 'remote-mcps' | null {
  if (topology === 'embedded') return null;
  if (host !== undefined) return 'one-host';
  return replicas['remote-mcp'] > 1 ? 'remote-mcps' : null;
}
