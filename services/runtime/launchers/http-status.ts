/** Meanings of a response's status for any request. */

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * A client that is refused like this tries the older transport HTTP+SSE (MCP 2025-11-25, "Transports", "Backwards
 * Compatibility").
 */
export function maybeOlderTransport(status: number): boolean {
  return [400, 404, 405].includes(status);
}

/** A temporary refusal: the same request may succeed later. 409 means that a broken stream still counts as open. */
export function isPassing(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || (status >= 500 && status !== 501);
}

/**
 * The MCP server no longer knows the session: 404 by the specification; 400 by MCP servers that followed an early
 * example.
 */
export function isSessionLost(status: number, said: string): boolean {
  return status === 404 || (status === 400 && /session/i.test(said));
}
