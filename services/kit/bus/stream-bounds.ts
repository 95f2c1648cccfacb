/** What a stream keeps for a consumer that is away; the oldest goes first. */
export interface StreamBounds {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** An hour of a thousand calls a second, give or take, and a week of a backend that nobody mends. */
export const streamBounds: StreamBounds = { maxBytes: 256 * 1024 * 1024, maxAgeMs: 7 * 24 * 60 * 60 * 1000 };
