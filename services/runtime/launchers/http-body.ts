import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { isObject } from '../../contracts/is-object.ts';
import { payloadMaxBytes } from '../../kit/bus/bus.ts';
import { settledWithin } from '../time/settled-within.ts';
import { beginning, type EventSink, EventStreamReader, type StreamPosition } from './event-stream.ts';
import { readFairly } from './read-fairly.ts';

const bodyMaxBytes = payloadMaxBytes + 1024;
/** Of an error's body, for a person. */
const quotedMaxBytes = 4096;
const quotedMaxChars = 500;
const quotedMaxMs = 2000;

export function isEventStream(response: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(response.headers['content-type'] ?? '');
}

/** The messages of a response, be it one or a stream of them. Returns at its end; throws where it breaks off. */
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

/** What an error's body says: the message of a JSON-RPC or OAuth error, else its beginning. For operators only: it may be any page. */
export async function quoteBody(response: IncomingMessage): Promise<string> {
  const text = await readBeginning(response);
  return (findMessage(text) ?? text)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, quotedMaxChars);
}

/** Lets go of a body that has no use. A short one is read, so that its connection serves the next request. */
export function discard(response: IncomingMessage): void {
  void readBeginning(response);
}

async function readBeginning(response: IncomingMessage): Promise<string> {
  let text = '';
  response.on('data', (chunk: Buffer) => {
    if (text.length < quotedMaxBytes) text += chunk.toString('utf8');
    else response.destroy();
  });
  // What there is of it by then is enough.
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
