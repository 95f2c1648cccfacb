/**
 * Node's young generation of 64 MB, twice, fills with garbage in a flood and is never given back. With 16 MB,
 * remote-mcp holds 170 MB afterwards instead of 280, at the same throughput. The single process uses 8 MB, which saves
 * idle memory; separate services need the 16 (decision 0053).
 */
export const nodeFlags = {
  platform: ['--max-semi-space-size=8'],
  service: ['--max-semi-space-size=16'],
} as const;
