/** Size and age limits of a stream whose consumer is away; the oldest record goes first. */
export interface StreamBounds {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** About an hour of a thousand calls a second, and a week without a working backend. */
export const streamBounds: StreamBounds = { maxBytes: 256 * 1024 * 1024, maxAgeMs: 7 * 24 * 60 * 60 * 1000 };
