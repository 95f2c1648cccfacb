// Codes of the reasons of MCP servers. Commands load them without the parsers of bus/messages.ts.

/** An MCP server that is starting and has not failed before: callers should wait. */
export const startingCode = 'starting';

/** An MCP server that answers 401. */
export const needsAuthorizationCode = 'needs_authorization';
