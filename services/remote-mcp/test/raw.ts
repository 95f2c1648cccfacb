import { randomUUID } from 'node:crypto';

/** An agent that writes its requests by hand, including requests that no library would send. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests check the shape themselves
  readonly body: any;
}

export interface RawRequest {
  readonly method?: string;
  readonly key?: string | undefined;
  readonly session?: string | undefined;
  /** Further headers; null removes a header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** An object is written as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export async function send(
  url: string,
  { method = 'POST', key, session, headers = {}, body, signal }: RawRequest,
): Promise<RawAnswer> {
  const response = await fetch(url, {
    method,
    ...(signal === undefined ? {} : { signal }),
    headers: headersOf({
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
      ...(method === 'POST'
        ? { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
        : {}),
      ...headers,
    }),
    ...(body === undefined
      ? {}
      : { body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

export const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

export function rpc(method: string, params?: unknown, id: string | number = randomUUID()) {
  return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
}

/** Whether the tool answered the call without an error. */
export function isGood({ body }: Pick<RawAnswer, 'body'>): boolean {
  return body.result !== undefined && body.result.isError !== true;
}

export async function openSession(url: string, key: string, protocolVersion = '2025-11-25'): Promise<string> {
  const clientInfo = { name: 'test', version: '1' };
  const body = rpc('initialize', { protocolVersion, capabilities: {}, clientInfo });
  const answer = await send(url, { key, body });
  const session = answer.headers.get('mcp-session-id');
  if (session === null) throw new Error(`no session: ${answer.status} ${answer.text}`);
  return session;
}

function headersOf(given: Readonly<Record<string, string | null>>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) if (value !== null) headers[name] = value;
  return headers;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
