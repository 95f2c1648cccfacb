import { request as sendPlain } from 'node:http';
import { request as sendSecurely } from 'node:https';
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
}

const answerMaxBytes = 64 * 1024 * 1024;

/**
 * One request, mostly to a service on this machine. Throws `unavailable` without an answer, `timeout` and `cancelled`.
 * Uses node:http, because loading fetch takes longer than all requests of a command.
 */
export function request({ method, url, headers, body, ca, timeoutMs, signal }: HttpRequest): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
    const fail = (error: unknown) => reject(whyNot(error, { url, timeoutMs, deadline, signal }));
    const send = url.startsWith('https:') ? sendSecurely : sendPlain;
    const sent = send(
      url,
      { method, headers: { ...headers }, signal: either, ...(ca === undefined ? {} : { ca }) },
      (response) => {
        const chunks: Buffer[] = [];
        let sizeBytes = 0;
        response.on('data', (chunk: Buffer) => {
          sizeBytes += chunk.length;
          if (sizeBytes <= answerMaxBytes) chunks.push(chunk);
          else sent.destroy(new SvcError('too_large', `${url} answered with more than ${answerMaxBytes} bytes.`));
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
        response.on('error', fail);
      },
    );
    sent.on('error', fail);
    sent.end(body);
  });
}

interface Circumstances {
  readonly url: string;
  readonly timeoutMs: number;
  readonly deadline: AbortSignal;
  readonly signal: AbortSignal | undefined;
}

function whyNot(error: unknown, { url, timeoutMs, deadline, signal }: Circumstances): SvcError {
  if (error instanceof SvcError) return error;
  const { origin } = new URL(url);
  if (signal?.aborted) return new SvcError('cancelled', 'The request was cancelled.', { cause: error });
  if (deadline.aborted) {
    return new SvcError('timeout', `${origin} did not answer within ${timeoutMs / 1000} s.`, { cause: error });
  }
  return new SvcError('unavailable', `Cannot reach ${origin}: ${inWords(error)}.`, { cause: error });
}
