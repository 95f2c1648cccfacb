import { MessageBytes } from './message-bytes.ts';
import { type Change, every, type Quad } from './quads.ts';

export interface ChangeRequest extends Change {
  /** Of the transaction that it belongs to; 0 and none where it begins one. */
  readonly startTs: number;
  readonly hash: string;
  readonly commitNow: boolean;
}

/**
 * A Request in the protocol of Dgraph, its fields by their numbers there. Written at once: objects for each of thousands of statements cost
 * several times as much.
 */
export function changeRequest({ startTs, hash, commitNow, set, remove }: ChangeRequest): Buffer {
  const request = new MessageBytes();
  if (hash !== '') request.text(15, hash);
  if (commitNow) request.boolean(13, true);
  request.message(12, () => {
    for (const quad of remove.toReversed()) writeQuad(request, 6, quad);
    for (const quad of set.toReversed()) writeQuad(request, 5, quad);
  });
  if (startTs !== 0) request.integer(1, startTs);
  return request.bytes;
}

function writeQuad(request: MessageBytes, field: number, quad: Quad): void {
  request.message(field, () => {
    if (quad.kind === 'edge') request.text(3, quad.target);
    else request.message(4, () => writeValue(request, quad));
    request.text(2, quad.predicate);
    request.text(1, quad.subject);
  });
}

function writeValue(request: MessageBytes, quad: Exclude<Quad, { kind: 'edge' }>): void {
  if (quad.kind === 'every') request.text(1, every);
  else if (typeof quad.value === 'string') request.text(5, quad.value);
  else if (typeof quad.value === 'number') request.integer(3, quad.value);
  else request.boolean(4, quad.value);
}
