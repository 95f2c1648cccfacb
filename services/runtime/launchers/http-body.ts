import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { isObject } from '../../contracts/is-object.ts';
import { payloadMaxBytes } from '../../kit/bus/bus.ts';
import { settledWithin } from '../time/settled-within.ts';
import { beginning, type EventSink, EventStreamReader, type StreamPosition } from './event-stream.ts';
import { readFairly } from './read-fairly.ts';

const bodyMaxBytes = payloadMaxBytes + 1024;
/** Quoted bytes of an error's body. */
const quotedMaxBytes = 4096;
const quotedMaxChars = 500;
const quotedMaxMs = 2000;

export function isEventStream(response: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(response.headers['content-type'] ?? '');
}

/** The messages of a response: one, or a stream of them. Returns at its end; throws when it breaks off. */
export async function readMessages(
  response: IncomingMessage,
  sink: EventSink,
  position: StreamPosition = beginning(),
): Promise<void> {
  if (isEventStream(response)) await readEvents(response, sink, position);
  else await readJson(response, sink);
}

async function readEvents(response: IncomingMessage, sink: EventSink, position: StreamPosition): Promise<void> {
  const events = new EventStreamReader(bodyMaxBytes, sink, position);
  readFairly(response, (chunk) => events.push(chunk));
  await finished(response);
}

/** One message, which is the whole body. */
async function readJson(response: IncomingMessage, sink: EventSink): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  readFairly(response, (chunk) => {
    bytes += chunk.length;
    if (bytes <= bodyMaxBytes) chunks.push(chunk);
    else response.destroy();
  });
  await finished(response).catch((error: unknown) => {
    if (bytes <= bodyMaxBytes) throw error;
  });
  if (bytes > bodyMaxBytes) sink.overlong(bodyMaxBytes);
  else if (bytes > 0) sink.message(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
}

/**
 * The message of a JSON-RPC or OAuth error, or else the beginning of the body. For operators only: it may be any page.
 */
export async function quoteBody(response: IncomingMessage): Promise<string> {
  const text = await readBeginning(response);
  return (findMessage(text) ?? text)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, quotedMaxChars);
}

/** Discards a body. A short one is read, so that its connection serves the next request. */
export function discard(response: IncomingMessage): void {
  void readBeginning(response);
}

async function readBeginning(response: IncomingMessage): Promise<string> {
  let text = '';
  response.on('data', (chunk: Buffer) => {
    if (text.length < quotedMaxBytes) text += chunk.toString('utf8');
    else response.destroy();
  });
  // The part received by then is enough.
  if (!(await settledWithin(finished(response), quotedMaxMs))) response.destroy();
  return text;
}

function findMessage(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text);
    if (!isObject(body)) return null;
    const message = isObject(body.error) ? body.error.message : (body.error_description ?? body.message ?? body.error);
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}
