import type { CustomFetchOptions } from 'openid-client';
import { SvcError } from '../../contracts/errors.ts';

/** A sign-in page waits for several requests, one after the other. */
const deadlineMs = 5_000;
/** A list of keys has some kilobytes. */
const answerMaxBytes = 256 * 1024;

/** `fetch` with a deadline and a bounded answer, which does not follow a redirect to another place. */
export async function boundedFetch(url: string, options: CustomFetchOptions): Promise<Response> {
  const late = AbortSignal.timeout(deadlineMs);
  const { method, headers: sent, body: given } = options;
  const content = given instanceof Uint8Array ? Uint8Array.from(given) : (given ?? null);
  const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
  const response = await fetch(url, { method, headers: sent, body: content, signal, redirect: 'manual' });
  const body = await readBounded(response, url);
  const { status, statusText, headers } = response;
  const isEmpty = status === 204 || status === 304 || body.length === 0;
  return new Response(isEmpty ? null : body, { status, statusText, headers });
}

async function readBounded({ body }: Response, url: string): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > answerMaxBytes) {
      throw new SvcError('too_large', `The answer of ${new URL(url).host} is larger than ${answerMaxBytes} bytes.`);
    }
    pieces.push(piece);
  }
  return Uint8Array.from(Buffer.concat(pieces));
}
