/**
 * A stopped service takes no new work, and running work has this long to end: agents give up after a minute, and most
 * calls take seconds. The owner of its process waits a little longer before it kills it.
 */
export const drainMs = 30_000;

/**
 * How often a proxy checks whether a remote-mcp is ready. A stopped remote-mcp continues until the proxy has seen it
 * and requests in transit have arrived.
 */
export const frontLooksEveryMs = 100;
