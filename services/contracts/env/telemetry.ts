/**
 * OpenTelemetry's own variables mean what its specification says. Services take all of them, and svc.yaml passes them
 * on unchanged.
 */
export function isTelemetry(name: string): boolean {
  return /^OTEL_[A-Z0-9_]{1,120}$/.test(name);
}

/** Headers hold credentials, so a file holds them, as for other secrets. */
export function isTelemetrySecret(name: string): boolean {
  return isTelemetry(name) && name.endsWith('_HEADERS');
}

export const telemetryAwaits = 'metrics and traces';
