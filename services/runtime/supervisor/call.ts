import type { CancelSignal } from '../../kit/cancellation.ts';

/** A request for an agent. */
export interface Call {
  readonly method: string;
  /** JSON text, passed on unchanged. */
  readonly params: Uint8Array;
  /** The progress token inside the params, if any. */
  readonly progress: string | null;
  readonly signal: CancelSignal;
  /** Takes a notification that belongs to this call. */
  readonly notify: (notification: Uint8Array) => void;
}

/** The `result` or `error` of the response, as JSON text. */
export interface Answer {
  readonly kind: 'result' | 'error';
  readonly payload: Uint8Array;
}
