import { isErrorCode } from '../../contracts/errors.ts';
import { mcpUrl } from '../app/environment.ts';
import { EventReader } from './event-reader.ts';
import { errorFrom, fieldOf, readHttpError, ShownError } from './shown-error.ts';

/** The revision of MCP that the page speaks. */
const protocolVersion = '2025-11-25';
const shortTimeoutMs = 15_000;
/** Longer than remote-mcp lets a silent call run. */
const callTimeoutMs = 31 * 60_000;
/** More than remote-mcp passes on of one result, with its progress. */
const answerMaxBytes = 48 * 1024 * 1024;
const initializeId = 1;
const callId = 2;

export interface ToolCall {
  /** The name for agents. */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** A new one whenever it is asked for: a call may run longer than a token is valid. */
  readonly token: () => Promise<string>;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/**
 * Calls a tool at the address for agents, in a session of its own, as an agent does (MCP 2025-11-25, "Transports").
 * Returns the result as the MCP server gave it. Throws a ShownError, and `signal.reason` after a cancellation.
 */
export async function callTool(call: ToolCall): Promise<unknown> {
  const { name, input, token, signal, onProgress } = call;
  const session = await open(call);
  let last: Promise<void> = Promise.resolve();
  const cancel = () => {
    last = session.tell('notifications/cancelled', { requestId: callId }).catch(() => undefined);
  };
  try {
    await session.tell('notifications/initialized');
    signal.throwIfAborted();
    signal.addEventListener('abort', cancel, { once: true });
    const params = { name, arguments: input, _meta: { progressToken: callId } };
    const body = { jsonrpc: '2.0', id: callId, method: 'tools/call', params };
    const until = AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)]);
    const { message } = await post({ token: await token(), session: session.id, body, signal: until, onProgress });
    return resultOf(message);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    // A cancellation must arrive before the end of its session.
    void last.then(session.end);
  }
}

interface Session {
  readonly id: string;
  readonly tell: (method: string, params?: object) => Promise<void>;
  readonly end: () => Promise<void>;
}

async function open({ token, signal }: ToolCall): Promise<Session> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'svc-pages', version: '1' } };
  const body = { jsonrpc: '2.0', id: initializeId, method: 'initialize', params };
  const until = AbortSignal.any([signal, AbortSignal.timeout(shortTimeoutMs)]);
  const { message, response } = await post({ token: await token(), session: null, body, signal: until });
  resultOf(message);
  const id = response.headers.get('mcp-session-id');
  if (id === null) throw unreachable();
  return {
    id,
    async tell(method, more) {
      const notification = { jsonrpc: '2.0', method, ...(more === undefined ? {} : { params: more }) };
      const signal = AbortSignal.timeout(shortTimeoutMs);
      await post({ token: await token(), session: id, body: notification, signal });
    },
    async end() {
      // The session ends with its idle time at the latest.
      await token()
        .then((text) =>
          request({ method: 'DELETE', token: text, session: id, signal: AbortSignal.timeout(shortTimeoutMs) }),
        )
        .catch(() => undefined);
    },
  };
}

interface Posted {
  readonly token: string;
  readonly session: string | null;
  readonly body: object;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** The response, and the message in it; undefined for a notification, which gets none. */
async function post({
  onProgress,
  ...posted
}: Posted): Promise<{ readonly response: Response; readonly message: unknown }> {
  const response = await request({ method: 'POST', ...posted });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const events = isStream ? new EventReader() : null;
  let [text, message]: [string, unknown] = ['', undefined];
  for await (const part of textOf(response)) {
    if (events === null) text += part;
    for (const event of events?.read(part) ?? []) {
      const heard = parse(event);
      if (fieldOf(heard, 'id') === callId || fieldOf(heard, 'id') === initializeId) message = heard;
      else onProgress?.(progressIn(heard));
    }
  }
  if (events === null) message = parse(text);
  if (response.ok) return { response, message };
  throw refusalIn(message, text, response) ?? unreachable();
}

interface Requested {
  readonly method: 'POST' | 'DELETE';
  readonly token: string;
  readonly session: string | null;
  readonly signal: AbortSignal;
  readonly body?: object;
}

async function request({ method, token, session, signal, body }: Requested): Promise<Response> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...(session === null ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion }),
  };
  try {
    const sent = body === undefined ? null : JSON.stringify(body);
    return await fetch(mcpUrl, { method, headers, body: sent, signal, credentials: 'omit', redirect: 'error' });
  } catch (error) {
    throw failed(error);
  }
}

/** The text of an answer, part by part. */
async function* textOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.byteLength;
      if (bytes > answerMaxBytes) throw tooLarge();
      yield decoder.decode(value, { stream: true });
    }
  } catch (error) {
    throw failed(error);
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** A refusal of remote-mcp, in its own words, or of the MCP server. */
function refusalIn(message: unknown, text: string, { headers }: Response): ShownError | null {
  const requestId = headers.get('x-request-id');
  return readHttpError(text, requestId) ?? errorIn(message, requestId);
}

function errorIn(message: unknown, requestId: string | null = null): ShownError | null {
  const error = fieldOf(message, 'error');
  const said = fieldOf(error, 'message');
  if (typeof said !== 'string') return null;
  const [code, hint] = ['code', 'hint'].map((name) => fieldOf(fieldOf(error, 'data'), name));
  if (isErrorCode(code)) return errorFrom({ code, message: said, hint }, requestId);
  return new ShownError({
    code: 'unavailable',
    message: `The MCP server answered with an error: ${said.slice(0, 2000)}`,
    hint: 'Its last output may say why.',
    requestId,
  });
}

function resultOf(message: unknown): unknown {
  const result = fieldOf(message, 'result');
  if (result !== undefined) return result;
  throw errorIn(message) ?? unreachable();
}

function progressIn(message: unknown): string {
  const params = fieldOf(message, 'params');
  const [progress, total, said] = ['progress', 'total', 'message'].map((name) => fieldOf(params, name));
  const share = typeof progress !== 'number' ? '' : typeof total === 'number' ? `${progress}/${total}` : `${progress}`;
  return [share, typeof said === 'string' ? said.slice(0, 200) : ''].filter((part) => part !== '').join(' ');
}

function failed(error: unknown): unknown {
  if (error instanceof ShownError) return error;
  if (error instanceof DOMException && error.name === 'TimeoutError') return tooSlow();
  return error instanceof TypeError ? unreachable() : error;
}

/** A browser tells a page nothing about a request that was refused because of its origin. */
function unreachable(): ShownError {
  return new ShownError({
    code: 'unavailable',
    message: `The address for agents, ${mcpUrl}, does not answer this page.`,
    hint: 'Check your connection. An operator can check that SVC_ALLOWED_ORIGINS of remote-mcp names the address of this page.',
    requestId: null,
  });
}

function tooSlow(): ShownError {
  const message = `The address for agents, ${mcpUrl}, did not answer in time.`;
  return new ShownError({ code: 'timeout', message, hint: 'Try again.', requestId: null });
}

function tooLarge(): ShownError {
  const message = 'The result is larger than this page reads.';
  return new ShownError({ code: 'too_large', message, hint: 'Ask the tool for less.', requestId: null });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
