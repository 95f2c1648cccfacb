import type { Reason } from '../../contracts/bus/messages.ts';
import type { SvcError } from '../../contracts/errors.ts';

/** The way to one started MCP server, whatever it runs on: messages go out, messages come in, one day it ends. */
export interface Channel {
  /** Sends one message, written by `wire/write-message.ts`. Throws `rate_limited` where too much waits to be sent. */
  send(message: Buffer, about: Outgoing): void;
  /** Nobody waits for the answer to this request any more. */
  forget(id: number): void;
  /** The lines the MCP server has lately said about itself, without its secrets. */
  lastWords(): readonly string[];
  /** Ends the MCP server and everything it started; returns when nothing is left. Never throws. */
  stop(): Promise<void>;
}

export type Outgoing =
  | { readonly kind: 'request'; readonly id: number; readonly method: string }
  | { readonly kind: 'answer' }
  | { readonly kind: 'notification'; readonly method: string };

/** What a channel tells whoever started it. */
export interface ChannelListener {
  /**
   * One message. `during` is the request whose own stream brought it, where the transport has such streams; true where nobody waits
   * for that request any more.
   */
  message(text: Buffer, during: number | null): boolean;
  /** One request got no answer and will get none; the channel itself lives on. */
  lost(id: number, error: SvcError): void;
  /** Something came that is no message. */
  garbage(sample: string): void;
  /** The MCP server began anew behind the same channel: what was learnt from it may be out of date. */
  renewed(): void;
  /** The MCP server is gone, not because it was stopped. Said once, last. */
  ended(reason: Reason): void;
}
