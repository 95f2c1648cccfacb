import { Readable } from 'node:stream';
import type { CustomFetchOptions } from 'openid-client';
import { readAnswer } from '../http/read-answer.ts';

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
  const body = await readAnswer(response.body ?? Readable.from([]), {
    host: new URL(url).host,
    maxBytes: answerMaxBytes,
  });
  const { status, statusText, headers } = response;
  const isEmpty = status === 204 || status === 304 || body.length === 0;
  return new Response(isEmpty ? null : Uint8Array.from(body), { status, statusText, headers });
}
