import type { Addresses } from '../settings/addresses.ts';

/** The addresses for people, browsers and agents, and of the runtime's own web service. */
export interface Urls {
  readonly app: string;
  readonly api: string;
  readonly mcp: string;
  /** For agents with an API key: the address of their own, or that of mcp. */
  readonly keys: string;
  readonly runtime: string;
}

export function urlsOf({ local, public: open }: Addresses): Urls {
  const { mcp, keys } = open;
  return { app: open.frontend, api: open.backend, mcp, keys: keys ?? mcp, runtime: local.runtime };
}
