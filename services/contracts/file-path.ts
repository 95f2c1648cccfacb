import { SvcError } from './errors.ts';

/** As file systems have it, and short enough for every place that shows it. */
export const filePathMaxBytes = 255;

/**
 * The path of a file in its skill, as it is kept: relative, with `/` between its parts. It must lead nowhere else wherever somebody writes the
 * file down, and look like what it is.
 */
export function parseFilePath(text: string): string {
  const path = text.normalize('NFC');
  const why = whyNot(path);
  if (why === null) return path;
  throw new SvcError('invalid_input', `${JSON.stringify(text.slice(0, 80))} is no path of a file in a skill: ${why}.`, {
    hint: 'Such as: references/forms.md',
  });
}

function whyNot(path: string): string | null {
  if (path === '') return 'it is empty';
  if (!path.isWellFormed() || hidden.test(path)) return 'it holds characters that nobody sees';
  if (new TextEncoder().encode(path).byteLength > filePathMaxBytes)
    return `it is longer than ${filePathMaxBytes} bytes`;
  if (path.includes('\\')) return 'its parts must be separated by /';
  if (path.startsWith('/')) return 'it must be relative';
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return 'each part must be a name';
  if (parts.some((part) => part !== part.trim())) return 'no part may begin or end with a space';
  if (path.toLowerCase() === 'skill.md') return 'SKILL.md is the skill itself: change its instructions';
  return null;
}

/** Controls, and marks that turn or hide what stands beside them. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u;
