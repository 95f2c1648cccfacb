/** What the status of a response means for whoever sent the request, whichever it was. */

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Refused for now: the same request may be taken later. 409 is said while a stream that broke off still counts as open. */
export function isPassing(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || (status >= 500 && status !== 501);
}

/** The MCP server knows the session no more: 404 by the specification; 400 by MCP servers that followed an early example. */
export function isSessionLost(status: number, said: string): boolean {
  return status === 404 || (status === 400 && /session/i.test(said));
}
