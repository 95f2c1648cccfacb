import { isObject } from '../../contracts/is-object.ts';
import { writeJson } from './write-message.ts';

/**
 * Progress tokens must be unique among what an MCP server is doing (MCP 2025-11-25, "Progress"), and one shared MCP server serves
 * several remote-mcp that give them out: where two meet, the later one is replaced on its way in and put back on its way out.
 */
export interface ReplacedToken {
  readonly params: Uint8Array;
  /** Puts the asker's own token back into a notification; null where it is nested too deeply to be written again. */
  readonly restore: (notification: Uint8Array) => Uint8Array | null;
}

/** Null where the params hold no token: then there is nothing to replace and nothing will come back. */
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
