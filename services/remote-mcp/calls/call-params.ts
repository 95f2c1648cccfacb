import { memberTexts, writeMembers } from '../../kit/json-members.ts';

/** What the MCP server shall see of a call. */
export interface Forwarded {
  /** JSON text of the tool's name as the MCP server knows it. */
  readonly nameText: string;
  /** Stands in for the agent's own progress token, where it gave one. */
  readonly progressToken: string | null;
}

/**
 * The `params` of a call for the MCP server: arguments and all else as the agent wrote them. The name is written once and by us, so that no
 * reader downstream can take another of two names than the one that was allowed. `task` is left out: we offer no task-augmented calls, so
 * it has no meaning (2025-11-25, "Tasks", "Capabilities").
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

/** The members of a call that was made through the tool that calls others: its arguments are the call, its `_meta` stays outside. */
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
