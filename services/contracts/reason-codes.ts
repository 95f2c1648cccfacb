// Codes of the reasons of MCP servers. They are apart from the parsers in bus/messages.ts, which a command would make in vain.

/** An MCP server that is starting and has not failed before: callers should wait. */
export const startingCode = 'starting';

/** An MCP server that answers 401. */
export const needsAuthorizationCode = 'needs_authorization';
