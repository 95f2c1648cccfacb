import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Question {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  /** Ends after the headers, for an endless answer. */
  readonly headersOnly?: boolean;
}

const bodyMaxBytes = 16 * 1024 * 1024;

/** One HTTP request and its answer, whatever the status. */
export function exchange(url: URL, question: Question): Promise<Answer> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: question.method,
      headers: {
        ...question.headers,
        ...(question.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(question.body)) }),
      },
      agent: false,
      signal: AbortSignal.timeout(question.timeoutMs),
    });
    outgoing.on('error', (error) => reject(tooLate(error, url, question.timeoutMs)));
    outgoing.on('response', (incoming) => {
      const answer = (body: string): Answer => ({ status: incoming.statusCode ?? 0, headers: incoming.headers, body });
      if (question.headersOnly) {
        resolve(answer(''));
        outgoing.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > bodyMaxBytes)
          outgoing.destroy(new SvcError('too_large', `The answer of ${url.href} is larger than 16 MiB.`));
      });
      incoming.on('error', (error) => reject(tooLate(error, url, question.timeoutMs)));
      incoming.on('end', () => resolve(answer(Buffer.concat(chunks).toString())));
    });
    outgoing.end(question.body);
  });
}

function tooLate(error: Error, url: URL, timeoutMs: number): Error {
  if (error.name !== 'TimeoutError' && error.name !== 'AbortError') return error;
  return new SvcError('timeout', `No answer from ${url.host} within ${timeoutMs / 1000} s.`);
}

/** A JSON-RPC message from a JSON body or from the first data event of a stream; null if there is none. */
export function messageOf(answer: Answer): Record<string, unknown> | null {
  const type = String(answer.headers['content-type'] ?? '');
  const text = type.includes('text/event-stream') ? dataOf(answer.body) : answer.body;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** The last event is the answer: notifications may come before it. */
function dataOf(stream: string): string {
  const events = stream.split(/\r?\n\r?\n/).filter((event) => /^data:/m.test(event));
  return (events.at(-1) ?? '')
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n');
}
