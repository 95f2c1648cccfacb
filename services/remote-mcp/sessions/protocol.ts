/** Supported revisions with `initialize`, newest first. remote-mcp writes the same messages in all of them. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export type ProtocolVersion = (typeof protocolVersions)[number];

export function findProtocolVersion(text: unknown): ProtocolVersion | null {
  return protocolVersions.find((version) => version === text) ?? null;
}

/** Least to most severe (2025-11-25, "Logging", "Log Levels"). */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof logLevels)[number];

export function findLogLevel(text: unknown): LogLevel | null {
  return logLevels.find((level) => level === text) ?? null;
}
