import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Backoff, backoffMs } from '../time/backoff.ts';
import { beginning, type EventSink, type StreamPosition } from './event-stream.ts';
import { isEventStream, readMessages } from './http-body.ts';
import type { HttpEndpoint, Terms } from './http-endpoint.ts';
import { isPassing, isSuccess } from './http-status.ts';

export interface AnswerOptions {
  readonly endpoint: HttpEndpoint;
  /** The terms of the request's session. */
  readonly terms: Terms;
  /** True when this was the answer, or when the caller no longer waits. */
  readonly take: (message: Buffer) => boolean;
  readonly tooLarge: (bytes: number) => void;
  /** Ends the reading, and every further try, at the request's deadline. */
  readonly signal: AbortSignal;
}

export type AnswerEnd =
  | { readonly kind: 'answered' }
  | { readonly kind: 'unanswered' }
  /** Its resumption was refused with this response. */
  | { readonly kind: 'refused'; readonly response: IncomingMessage };

/** A stream ends after its answer; one that stays open would hold a connection for ever. */
const lingerMaxMs = 1000;
/** Shortest delay, because an MCP server that asks for an immediate retry would keep both sides busy. */
const resumeMinMs = 100;
const resumeAgain: Backoff = { firstMs: 1000, maxMs: 10_000 };

/**
 * Reads the answer to a request and the messages before it. An MCP server may close or lose the connection early and
 * send the rest on the next one (MCP 2025-11-25, "Sending Messages to the Server", "Resumability and Redelivery").
 */
export async function readAnswer(first: IncomingMessage, options: AnswerOptions): Promise<AnswerEnd> {
  const position = beginning();
  for (let response = first; ; ) {
    if (await hasAnswer(response, options, position)) return { kind: 'answered' };
    if (position.lastEventId === null) return { kind: 'unanswered' };
    response = await takeUpAgain(options, position);
    const isTakenUp = isSuccess(response.statusCode ?? 0) && isEventStream(response);
    if (!isTakenUp) return { kind: 'refused', response };
  }
}

/** Reads one connection to its end. Throws when it breaks off and cannot be resumed. */
async function hasAnswer(
  response: IncomingMessage,
  { take, tooLarge }: AnswerOptions,
  position: StreamPosition,
): Promise<boolean> {
  let lingering: NodeJS.Timeout | undefined;
  const answered = () => {
    lingering ??= setTimeout(() => response.destroy(), lingerMaxMs);
  };
  const sink: EventSink = {
    message: (text) => {
      if (take(text)) answered();
    },
    overlong: (bytes) => {
      tooLarge(bytes);
      answered();
    },
  };
  try {
    await readMessages(response, sink, position);
  } catch (error) {
    if (lingering === undefined && position.lastEventId === null) throw error;
  } finally {
    clearTimeout(lingering);
  }
  return lingering !== undefined;
}

/** Requests the rest until the MCP server responds. */
async function takeUpAgain({ endpoint, terms, signal }: AnswerOptions, from: StreamPosition): Promise<IncomingMessage> {
  for (let failures = 0; ; failures++) {
    const isAsked = failures === 0 && from.retryMs !== null;
    const ownMs = isAsked ? resumeMinMs : backoffMs(resumeAgain, Math.max(failures, 1), Math.random());
    await pause(Math.max(ownMs, from.retryMs ?? 0), undefined, { signal });
    const response = await endpoint.request({ method: 'GET', terms, from, signal }).catch((error: unknown) => {
      if (signal.aborted || endpoint.explain(error) !== null) throw error;
      endpoint.dropIdle();
      return null;
    });
    if (response !== null && !isPassing(response.statusCode ?? 0)) return response;
    response?.destroy();
  }
}
