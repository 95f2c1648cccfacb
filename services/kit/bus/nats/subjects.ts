/** Subjects of the engine's own, beside those of contracts/bus: each names its two ends, and permissions name one of them. */
export interface ExchangeEnds {
  /** A runtime's process, or `backend` for any of them. */
  readonly answerer: string;
  readonly asker: string;
  readonly id: string;
}

/** From whoever answers to whoever asked. */
export function replySubject({ answerer, asker, id }: ExchangeEnds): string {
  return `_R.${asker}.${answerer}.${id}`;
}

/** From whoever asked to whoever answers: further frames, how far the asker is, cancel. */
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

/** What a backend tells of a connection that ended, by what it was: runtimes need not know of each other. */
export function goneSubject(kind: string, end: string): string {
  return `_G.${kind}.${end}`;
}

/** Of every connection that ends. */
export const gonePattern = '_G.>';

/** Where a client hears from the backend who it is. */
export function toldSubject(inbox: string): string {
  return `${inbox}.told`;
}

/** Where one backend tells the others whom to refuse for a while. Only backends speak and listen here. */
export const penaltySubject = '_P';

/** Where a remote-mcp tells the backends which runtime process is beyond its bounds. */
export function offenceSubject(end: string): string {
  return `_O.${end}`;
}

export const offencePattern = '_O.*';

/** Where records of a stream are sent. */
export function streamSubject(name: string): string {
  return `svc.stream.${name}`;
}

/** The stream that a bucket is, by NATS's own name for it (ADR-8). */
export function bucketStream(bucket: string): string {
  return `KV_${bucket}`;
}

/** Where a value of a bucket is sent (ADR-8). */
export function keySubject(bucket: string, key: string): string {
  return `$KV.${bucket}.${key}`;
}

export function keyOf(bucket: string, subject: string): string {
  return subject.slice(keySubject(bucket, '').length);
}
