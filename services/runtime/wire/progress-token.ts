import { isObject } from '../../contracts/is-object.ts';
import { writeJson } from './write-message.ts';

/**
 * A replaced progress token. Tokens must be unique in an MCP server (MCP 2025-11-25, "Progress"), but several
 * remote-mcps that share it choose them. Of two equal tokens, the later is replaced on its way in and restored on its
 * way out.
 */
export interface ReplacedToken {
  readonly params: Uint8Array;
  /** Restores the caller's own token in a notification; null when it is nested too deeply to be written again. */
  readonly restore: (notification: Uint8Array) => Uint8Array | null;
}

/** Null when the params hold no token: then there is nothing to replace. */
export function replaceToken(params: Uint8Array, token: string): ReplacedToken | null {
  const parsed: unknown = JSON.parse(Buffer.from(params).toString('utf8'));
  if (!isObject(parsed) || !isObject(parsed._meta)) return null;
  const own = parsed._meta.progressToken;
  const replaced = { ...parsed, _meta: { ...parsed._meta, progressToken: token } };
  return {
    params: Buffer.from(JSON.stringify(replaced)),
    restore: (notification) => {
      const message: unknown = JSON.parse(Buffer.from(notification).toString('utf8'));
      if (!isObject(message) || !isObject(message.params)) return notification;
      const text = writeJson({ ...message, params: { ...message.params, progressToken: own } });
      return text === null ? null : Buffer.from(text);
    },
  };
}
