import type { Headers, Message } from '../bus.ts';

/** A frame as our own client would write it on the wire, with any field that an attacker likes. */
export interface RawFrame {
  /** The name of the kind, with `+` where more frames follow. Null sends no header of a frame. */
  readonly kind: string | null;
  readonly payload?: Uint8Array;
  readonly headers?: Headers;
  readonly id?: string;
  /** Subject that the answer shall go to. */
  readonly reply?: string;
}

/**
 * A client with the rights of its key and none of the checks of our own code. An engine inside one process has no wire, so its raw client is a
 * connection that drops what the connection refuses.
 */
export interface RawClient {
  say(subject: string, frame: RawFrame): void;
  hear(pattern: string, handle: (message: Message & { readonly reply: string }) => void): void;
  /** Resolves when the bus has taken what was said so far. */
  reached(): Promise<void>;
  /** Resolves when the bus has ended the connection. */
  readonly ended: Promise<void>;
}
