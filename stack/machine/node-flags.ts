/**
 * Node's bound for young objects is 64 MB, twice: a flood, or a minute of calls, fills both with garbage that is never given back.
 * With 16 MB, remote-mcp holds 170 MB after it instead of 280, and as many calls go through. One process for all services has less at rest
 * with 4 MB; services in processes of their own need the 16, because each call is taken apart and put together there once more.
 */
export const nodeFlags = {
  platform: ['--max-semi-space-size=4'],
  service: ['--max-semi-space-size=16'],
} as const;
