/** The part of a text that names an MCP server, and the part that names its tools, such as `files` and `delete_*`. */
export interface TypedRule {
  readonly mcpServer: string;
  readonly tool: string;
}

/** Null while the text has no `/`, or nothing on one side of it. The name of an MCP server holds no `/`. */
export function readTypedRule(text: string): TypedRule | null {
  const at = text.indexOf('/');
  const [mcpServer, tool] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  return at === -1 || mcpServer === '' || tool === '' ? null : { mcpServer, tool };
}

/** What the backend looks for while a person types a rule; null: any. */
export function searchOf(text: string): { readonly mcpServer: string | null; readonly tool: string | null } {
  const at = text.indexOf('/');
  if (at === -1) {
    const both = text.trim() === '' ? null : text.trim();
    return { mcpServer: both, tool: both };
  }
  const longest = text
    .slice(at + 1)
    .split('*')
    .map((part) => part.trim())
    .reduce((one, other) => (other.length > one.length ? other : one));
  return { mcpServer: text.slice(0, at).trim() || null, tool: longest === '' ? null : longest };
}
