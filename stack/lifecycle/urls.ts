import type { Addresses } from '../settings/addresses.ts';

/** The addresses for people, browsers and agents, and of the runtime's own web service. */
export interface Urls {
  readonly app: string;
  readonly api: string;
  readonly mcp: string;
  readonly runtime: string;
}

export function urlsOf({ local, public: open }: Addresses): Urls {
  return { app: open.frontend, api: open.backend, mcp: open.mcp, runtime: local.runtime };
}
