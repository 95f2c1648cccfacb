import { isSchema as isObject } from './schema-problems.ts';

/** A result of a tool (MCP 2025-11-25, "Tools", "Tool Result"), as the page shows it. */
export interface ToolResult {
  /** The tool reports a failure. */
  readonly isError: boolean;
  readonly parts: readonly ResultPart[];
  /** Structured content as JSON text; null without it. */
  readonly structured: string | null;
}

export type ResultPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  /** What the page does not show, in words. */
  | { readonly kind: 'note'; readonly text: string };

const partsMax = 100;
export const textMax = 200_000;
/** Types that cannot hold a script. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Reads what an MCP server answered. Nothing of it is trusted, and an unknown form is shown as JSON. */
export function readToolResult(result: unknown): ToolResult {
  if (!isObject(result) || !Array.isArray(result.content)) {
    return { isError: false, parts: [{ kind: 'text', text: shortened(jsonOf(result)) }], structured: null };
  }
  const { content, structuredContent, isError } = result;
  const left = content.length - partsMax;
  const parts = content.slice(0, partsMax).map(readPart);
  return {
    isError: isError === true,
    parts: left > 0 ? [...parts, { kind: 'note', text: `${left} more parts are not shown.` }] : parts,
    structured: structuredContent === undefined ? null : shortened(jsonOf(structuredContent)),
  };
}

function readPart(part: unknown): ResultPart {
  if (!isObject(part)) return { kind: 'text', text: shortened(jsonOf(part)) };
  const { type, text, data, mimeType, uri, resource } = part;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text: shortened(text) };
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string') {
    const isShown = type === 'image' && imageTypes.includes(mimeType) && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
    if (isShown) return { kind: 'image', url: `data:${mimeType};base64,${data}` };
    const bytes = Math.floor((data.length * 3) / 4);
    return {
      kind: 'note',
      text: `${type === 'image' ? 'An image' : 'Audio'} of type "${mimeType.slice(0, 80)}", about ${bytes} bytes.`,
    };
  }
  if (type === 'resource_link' && typeof uri === 'string')
    return { kind: 'note', text: `Resource: ${uri.slice(0, 500)}` };
  if (type === 'resource' && isObject(resource)) {
    if (typeof resource.text === 'string') return { kind: 'text', text: shortened(resource.text) };
    if (typeof resource.uri === 'string') return { kind: 'note', text: `Resource: ${resource.uri.slice(0, 500)}` };
  }
  return { kind: 'text', text: shortened(jsonOf(part)) };
}

function shortened(text: string): string {
  const left = text.length - textMax;
  return left > 0 ? `${text.slice(0, textMax)}\n… ${left} more characters` : text;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'nothing';
}
