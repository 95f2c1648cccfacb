import type { Part } from '../parts/part.ts';
import { firstOf } from '../parts/parts.ts';

/** Whether files are kept on the bus. */
export function keepsBlobs({ parts }: { readonly parts: readonly Part[] }): boolean {
  return firstOf('backend', parts).variables.FILES_DIR === undefined;
}

/** How long the key of a session is kept. */
export function keyMaxAgeOf({ parts }: { readonly parts: readonly Part[] }): number {
  return Number(firstOf('remote-mcp', parts).variables.SVC_SESSION_IDLE_TIMEOUT_MS);
}
