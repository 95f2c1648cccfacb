import { isObject } from '../../contracts/is-object.ts';
import { isReadOnlyTool } from '../../contracts/tool-rules.ts';
import { memberTexts, writeMembers } from '../../kit/json-members.ts';

export interface ToolDefinition {
  /** JSON text of the tool as agents see it. */
  readonly text: string;
  /** Whether its MCP server declares the tool idempotent (2025-11-25, "ToolAnnotations"). */
  readonly isRepeatable: boolean;
  /** Whether its MCP server declares the tool read-only. */
  readonly isReadOnly: boolean;
}

/**
 * A tool as agents see it: the MCP server's unchanged description under the platform's name. Null if it is not a tool
 * (2025-11-25, "Tools", "Data Types": an object with an inputSchema object), because clients would refuse the whole
 * list for it.
 */
export function definitionFor(name: string, original: string): ToolDefinition | null {
  const parsed = parse(original);
  if (!isObject(parsed) || !isObject(parsed.inputSchema) || parsed.inputSchema.type !== 'object') return null;
  const members = memberTexts(original);
  if (members === null) return null;
  members.delete('name');
  const text = writeMembers([['name', JSON.stringify(name)], ...members]);
  return { text, isRepeatable: isRepeatable(parsed.annotations), isReadOnly: isReadOnlyTool(parsed) };
}

function isRepeatable(annotations: unknown): boolean {
  return isReadOnly(annotations) || (isObject(annotations) && annotations.idempotentHint === true);
}

function isReadOnly(annotations: unknown): boolean {
  return isObject(annotations) && annotations.readOnlyHint === true;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
