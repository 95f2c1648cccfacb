/**
 * The engine's own subjects, besides those of contracts/bus. Each names its two ends, and permissions name one of them.
 */
export interface ExchangeEnds {
  /** A runtime's process, or `backend` for any of them. */
  readonly answerer: string;
  readonly asker: string;
  readonly id: string;
}

/** From the responder to the caller. */
export function replySubject({ answerer, asker, id }: ExchangeEnds): string {
  return `_R.${asker}.${answerer}.${id}`;
}

/** From the caller to the responder: further frames, receipts, cancel. */
export function controlSubject({ answerer, asker, id }: ExchangeEnds): string {
  return `_C.${answerer}.${asker}.${id}`;
}

export function readReplySubject(subject: string): ExchangeEnds | null {
  const [root, asker, answerer, id, ...more] = subject.split('.');
  if (root !== '_R' || asker === undefined || answerer === undefined || id === undefined || more.length > 0)
    return null;
  return { asker, answerer, id };
}

export function readControlSubject(subject: string): ExchangeEnds | null {
  const [root, answerer, asker, id, ...more] = subject.split('.');
  if (root !== '_C' || asker === undefined || answerer === undefined || id === undefined || more.length > 0)
    return null;
  return { asker, answerer, id };
}

/** A backend's report of an ended connection, by its kind: runtimes need not know of each other. */
export function goneSubject(kind: string, end: string): string {
  return `_G.${kind}.${end}`;
}

/** Reports of every ended connection. */
export const gonePattern = '_G.>';

/** The subject on which a client receives its identity from the backend. */
export function introductionSubject(inbox: string): string {
  return `${inbox}.told`;
}

/**
 * The subject on which backends inform each other which runtime to refuse for a while. Only backends publish and
 * subscribe here.
 */
export const penaltySubject = '_P';

/** The subject on which a remote-mcp informs the backends which runtime process exceeds its allowance. */
export function offenceSubject(end: string): string {
  return `_O.${end}`;
}

export const offencePattern = '_O.*';

/** Subject for records of a stream. */
export function streamSubject(name: string): string {
  return `svc.stream.${name}`;
}

/** The stream of a bucket, by NATS's own name for it (ADR-8). */
export function bucketStream(bucket: string): string {
  return `KV_${bucket}`;
}

/** Subject for a value of a bucket (ADR-8). */
export function keySubject(bucket: string, key: string): string {
  return `$KV.${bucket}.${key}`;
}

export function keyOf(bucket: string, subject: string): string {
  return subject.slice(keySubject(bucket, '').length);
}
