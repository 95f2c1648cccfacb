import { SvcError } from './errors.ts';

/** The limit of file systems, and short enough to show anywhere. */
export const filePathMaxBytes = 255;

/**
 * Checks and normalises the path of a file in its skill: relative, with `/` between its parts. It must not escape a
 * folder on any system, and must show every character.
 */
export function parseFilePath(text: string): string {
  const path = text.normalize('NFC');
  const why = whyNot(path);
  if (why === null) return path;
  throw new SvcError(
    'invalid_input',
    `${JSON.stringify(text.slice(0, 80))} is not a path of a file in a skill: ${why}.`,
    {
      hint: 'Example: references/forms.md',
    },
  );
}

function whyNot(path: string): string | null {
  if (path === '') return 'it is empty';
  if (!path.isWellFormed() || hidden.test(path)) return 'it holds invisible characters';
  if (new TextEncoder().encode(path).byteLength > filePathMaxBytes)
    return `it is longer than ${filePathMaxBytes} bytes`;
  if (path.includes('\\')) return 'its parts must be separated by /';
  if (path.startsWith('/')) return 'it must be relative';
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return 'each part must be a name';
  if (parts.some((part) => part.includes(':') || device.test(part))) return 'Windows reads it as a drive or a device';
  if (parts.some((part) => part !== part.trim())) return 'no part may begin or end with a space';
  if (path.toLowerCase() === 'skill.md') return 'SKILL.md is the skill itself: change its instructions';
  return null;
}

/** Windows opens these names in every folder, also with an ending. */
const device = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\..*)?$/i;
/** Controls, and marks that turn or hide the text beside them. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u;
