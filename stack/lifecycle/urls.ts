import type { Addresses } from '../settings/addresses.ts';

/** Where people, browsers and agents reach the platform, and where the runtime's own web service is. */
export interface Urls {
  readonly app: string;
  readonly api: string;
  readonly mcp: string;
  readonly runtime: string;
}

export function urlsOf({ local, public: open }: Addresses): Urls {
  return { app: open.frontend, api: open.backend, mcp: open.mcp, runtime: local.runtime };
}
