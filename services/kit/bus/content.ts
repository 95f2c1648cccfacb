import type { BackendSeeds } from './bus.ts';
import { checkedRecord, checkedValue } from './check-entry.ts';

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

/** Checks a record from outside the platform. Throws `too_large` if no stream could keep it. */
export function checkKeptRecord({ payload }: KeptRecord): KeptRecord {
  return { payload: checkedRecord(payload, 'A record') };
}

/** Checks an entry from outside the platform. Throws if no bucket could keep it. */
export function checkKeptEntry({ key, value, expiresAt }: KeptEntry): KeptEntry {
  return { key, value: checkedValue(key, value), expiresAt };
}

/** The file of a bus inside one process, created when missing. */
export interface SqliteContentOptions {
  readonly file: string;
  /** Keys expire this long after they are put. */
  readonly keyMaxAgeMs: number;
}

/** A NATS server, and the proof that this client belongs to the platform. */
export interface NatsContentOptions {
  /**
   * Whether backends are connected; they then admit this connection. Default: no backend is connected, and this
   * connection admits itself.
   */
  readonly hasBackends?: boolean;
  readonly servers: readonly string[];
  /** PEM file of the authority that signs the bus's certificate; null: the system's authorities. */
  readonly caPath: string | null;
  readonly seeds: BackendSeeds;
  readonly keyMaxAgeMs: number;
}
