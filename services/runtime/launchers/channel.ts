import type { Reason } from '../../contracts/bus/messages.ts';
import type { SvcError } from '../../contracts/errors.ts';

/** The connection to one started MCP server of any kind: sends and receives messages until it ends. */
export interface Channel {
  /** Sends one message of `wire/write-message.ts`. Throws `rate_limited` when too much waits to be sent. */
  send(message: Buffer, about: Outgoing): void;
  /** The caller no longer waits for the answer to this request. */
  forget(id: number): void;
  /** The MCP server's latest stderr lines, without its secrets. */
  lastWords(): readonly string[];
  /** Ends the MCP server and every process it started; returns when none is left. Never throws. */
  stop(): Promise<void>;
}

export type Outgoing =
  | { readonly kind: 'request'; readonly id: number; readonly method: string }
  | { readonly kind: 'answer' }
  | { readonly kind: 'notification'; readonly method: string };

/** Events of a channel. */
export interface ChannelListener {
  /**
   * One message. `during` is the request whose stream carried it, for transports with such streams. Returns true when
   * that request needs nothing more.
   */
  message(text: Buffer, during: number | null): boolean;
  /** One request will get no answer; the channel itself continues. */
  lost(id: number, error: SvcError): void;
  /** The received data is not a message. */
  garbage(sample: string): void;
  /** The MCP server restarted behind the same channel: earlier data about it may be stale. */
  renewed(): void;
  /** The MCP server ended without a stop. Called once, last. */
  ended(reason: Reason): void;
}
