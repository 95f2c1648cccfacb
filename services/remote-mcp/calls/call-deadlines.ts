import type { McpServer } from '../catalogue/catalogue.ts';

/** The longest total duration of a call. */
export const callMaxMs = 30 * 60_000;

/** How long a call to this MCP server may be silent: its own deadline, or the setting of the platform. */
export function silenceMaxOf({ callTimeout }: Pick<McpServer, 'callTimeout'>, platformMs: number): number {
  return callTimeout === null ? platformMs : 1000 * callTimeout;
}
