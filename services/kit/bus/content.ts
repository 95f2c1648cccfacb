import type { BackendSeeds } from './bus.ts';

/** What a bus keeps that nobody is connected to, as whoever moves an installation carries it from one engine to the other. */
export interface BusContent {
  /** Those that not every consumer has handled yet, oldest first. What was on its way to one when it ended is among them: at least once. */
  records(stream: string): AsyncIterable<KeptRecord>;
  /** Those whose age has not ended, in no order. */
  entries(bucket: string): AsyncIterable<KeptEntry>;
  /** In the order given, after what is there. */
  addRecords(stream: string, records: AsyncIterable<KeptRecord>): Promise<void>;
  /** Each expires at its own time, up to a second earlier. */
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

/** The file of a bus inside one process, which is made where it is missing. */
export interface SqliteContentOptions {
  readonly file: string;
  /** Keys expire this long after they are put. */
  readonly keyMaxAgeMs: number;
}

/** A NATS server on which no backend is. */
export interface NatsContentOptions {
  readonly servers: readonly string[];
  /** PEM of whom to trust as the bus; null: as the system does. */
  readonly caPath: string | null;
  readonly seeds: BackendSeeds;
  readonly keyMaxAgeMs: number;
}
