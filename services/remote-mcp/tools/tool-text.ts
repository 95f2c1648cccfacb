import { withoutKeys } from '../../contracts/keys.ts';

/** The result of a constant tool: texts for a model to read. */
export interface ToolText {
  readonly texts: readonly string[];
  /** Whether a model should see a failure that it can correct (2025-11-25, "Tools", "Error Handling"). */
  readonly isError: boolean;
  /** Files that are not text. */
  readonly attached?: { readonly uri: string; readonly mediaType: string; readonly data: string };
  /** For programs, by names with a prefix; clients do not show it to models. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

export function told(...texts: readonly string[]): ToolText {
  return { texts, isError: false };
}

/** A failure may quote the arguments, without any key in them. */
export function failed(...texts: readonly string[]): ToolText {
  return { texts: texts.map(withoutKeys), isError: true };
}

/** JSON text of the result of `tools/call`. */
export function formatToolText({ texts, isError, attached, meta: _meta }: ToolText): string {
  const content = [
    ...texts.map((text) => ({ type: 'text', text })),
    ...(attached === undefined ? [] : [contentOf(attached)]),
  ];
  return JSON.stringify({ content, ...(isError ? { isError } : {}), _meta });
}

/** Clients show images to a model; any other file is a resource (2025-11-25, "Tools", "Tool Result"). */
function contentOf({ uri, mediaType: mimeType, data }: NonNullable<ToolText['attached']>) {
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  return { type: 'resource', resource: { uri, mimeType, blob: data } };
}
