import type { Headers, Message } from '../bus.ts';

/** A frame as the bus's own client would write it, with any field that an attacker chooses. */
export interface RawFrame {
  /** The name of the kind, with `+` where more frames follow. Null sends no header of a frame. */
  readonly kind: string | null;
  readonly payload?: Uint8Array;
  readonly headers?: Headers;
  readonly id?: string;
  /** The subject for the reply. */
  readonly reply?: string;
}

/**
 * A client with the permissions of its key and without the checks of the bus's own client. The engine inside one
 * process has no wire, so its raw client ignores refusals of the connection.
 */
export interface RawClient {
  say(subject: string, frame: RawFrame): void;
  hear(pattern: string, handle: (message: Message & { readonly reply: string }) => void): void;
  /** Resolves when the bus has received everything sent so far. */
  reached(): Promise<void>;
  /** Resolves when the bus has ended the connection. */
  readonly ended: Promise<void>;
}
