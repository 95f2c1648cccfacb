import { request as sendPlain } from 'node:http';
import { request as sendSecurely } from 'node:https';
import { timeOfDate } from '../../services/contracts/clocks.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { inWords } from '../../services/contracts/system-words.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** PEM of the authority of an https:// address; default: the system's authorities. */
  readonly ca?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly bytes: Uint8Array;
  /** The clock of the other side, from its Date header; null without one. */
  readonly dateMs: number | null;
}

const answerMaxBytes = 64 * 1024 * 1024;

/** Throws `unavailable`, `timeout` and `cancelled`. Uses node:http, because fetch takes longer to load. */
export function request({ method, url, headers, body, ca, timeoutMs, signal }: HttpRequest): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
  const failure = (cause: Error): SvcError => {
    if (cause instanceof SvcError) return cause;
    if (signal?.aborted) return new SvcError('cancelled', 'The request was cancelled.', { cause });
    const { origin } = new URL(url);
    if (!deadline.aborted) return new SvcError('unavailable', `Cannot reach ${origin}: ${inWords(cause)}.`, { cause });
    return new SvcError('timeout', `${origin} did not answer within ${timeoutMs / 1000} s.`, { cause });
  };
  const send = url.startsWith('https:') ? sendSecurely : sendPlain;
  return new Promise((resolve, reject) => {
    const sent = send(url, { method, headers: { ...headers }, signal: either, ca }, (response) => {
      const chunks: Buffer[] = [];
      let sizeBytes = 0;
      response.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes <= answerMaxBytes) chunks.push(chunk);
        else sent.destroy(new SvcError('too_large', `${url} answered with more than ${answerMaxBytes} bytes.`));
      });
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const dateMs = timeOfDate(response.headers.date);
        resolve({ status: response.statusCode ?? 0, body: bytes.toString(), bytes, dateMs });
      });
      response.on('error', (error) => reject(failure(error)));
    });
    sent.on('error', (error) => reject(failure(error)));
    sent.end(body);
  });
}
