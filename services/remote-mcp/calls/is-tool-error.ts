import { memberTexts } from '../../kit/json-members.ts';

const member = Buffer.from('"isError"');

/**
 * Whether a result reports that the tool failed. Most results do not contain the word, so only those that do are
 * parsed.
 */
export function isToolError(result: Uint8Array): boolean {
  const bytes = Buffer.from(result.buffer, result.byteOffset, result.byteLength);
  if (!bytes.includes(member)) return false;
  return memberTexts(bytes.toString('utf8'))?.get('isError') === 'true';
}
