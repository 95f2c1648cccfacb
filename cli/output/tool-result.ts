import type { CallToolResult } from '@modelcontextprotocol/client';

/** The content of a result as text. Anything but text is named with its size. */
export function contentText({ content }: CallToolResult): string {
  return content.map(partText).join('\n');
}

function partText(part: CallToolResult['content'][number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type} ${part.mimeType}, ${Buffer.byteLength(part.data, 'base64')} bytes: see it with --json]`;
    case 'resource_link':
      return `[resource ${part.uri}]`;
    case 'resource':
      return 'text' in part.resource ? part.resource.text : `[resource ${part.resource.uri}: see it with --json]`;
  }
}
