import type { BackendSeeds } from './bus.ts';

/** The stored content of a bus without clients, which a move of an installation copies from one engine to the other. */
export interface BusContent {
  /**
   * Records that at least one consumer has not handled yet, oldest first. Includes records in delivery when the bus
   * ended (at least once).
   */
  records(stream: string): AsyncIterable<KeptRecord>;
  /** Unexpired entries, in no order. */
  entries(bucket: string): AsyncIterable<KeptEntry>;
  /** Appends the records in the given order. */
  addRecords(stream: string, records: AsyncIterable<KeptRecord>): Promise<void>;
  /** Each entry expires at its own time, at most a second earlier. */
  addEntries(bucket: string, entries: AsyncIterable<KeptEntry>): Promise<void>;
  close(): Promise<void>;
}

export interface KeptRecord {
  readonly payload: Uint8Array;
}

export interface KeptEntry {
  readonly key: string;
  readonly value: Uint8Array;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The file of a bus inside one process; created when missing. */
export interface SqliteContentOptions {
  readonly file: string;
  /** Keys expire this long after they are put. */
  readonly keyMaxAgeMs: number;
}

/** A NATS server that no backend is connected to. */
export interface NatsContentOptions {
  readonly servers: readonly string[];
  /** PEM file of the authority that signs the bus's certificate; null: the system's authorities. */
  readonly caPath: string | null;
  readonly seeds: BackendSeeds;
  readonly keyMaxAgeMs: number;
}
