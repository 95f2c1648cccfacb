import { memberTexts, writeMembers } from '../../kit/json-members.ts';

/** The parts of a call that are rewritten for the MCP server. */
export interface Forwarded {
  /** JSON text of the tool's name as the MCP server knows it. */
  readonly nameText: string;
  /** Replaces the agent's own progress token; null if the agent gave none. */
  readonly progressToken: string | null;
}

/**
 * The `params` of a call for the MCP server. remote-mcp writes the name itself and once, so that a duplicate name cannot reach another tool.
 * `task` is left out, because remote-mcp offers no task-augmented calls (2025-11-25, "Tasks", "Capabilities").
 */
export function paramsOfCall(members: ReadonlyMap<string, string>, { nameText, progressToken }: Forwarded): string {
  let text = `{"name":${nameText}`;
  for (const [name, value] of members) {
    if (name === 'name' || name === 'task') continue;
    const written = name === '_meta' && progressToken !== null ? withProgressToken(value, progressToken) : value;
    text += name === 'arguments' ? `,"arguments":${written}` : `,${JSON.stringify(name)}:${written}`;
  }
  return `${text}}`;
}

/** The members of a call that was made through `call_tool`: the arguments are the inner call, and `_meta` stays outside. */
export function membersOfInnerCall(outer: ReadonlyMap<string, string>): Map<string, string> {
  const inner = memberTexts(outer.get('arguments') ?? '{}');
  const given = inner?.get('arguments');
  const meta = outer.get('_meta');
  return new Map([
    ...(given === undefined ? [] : [['arguments', given] as const]),
    ...(meta === undefined ? [] : [['_meta', meta] as const]),
  ]);
}

function withProgressToken(metaText: string, token: string): string {
  const members = memberTexts(metaText);
  if (members === null) return metaText;
  members.set('progressToken', JSON.stringify(token));
  return writeMembers(members);
}
