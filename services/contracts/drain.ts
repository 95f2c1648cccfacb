/**
 * A service that is stopped takes nothing new, and what is under way has this long to end: agents give up after a minute, and most calls take
 * seconds. Whoever ends its process waits a little longer than that.
 */
export const drainMs = 30_000;

/**
 * How often a front looks whether a remote-mcp is ready. One that is stopped, and was looked at, goes on until the front has seen it and what was on
 * its way has come.
 */
export const frontLooksEveryMs = 100;
