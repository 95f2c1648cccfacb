import { SvcError } from '../../services/contracts/errors.ts';
import { readBounded } from '../../stack/machine/bounded-file.ts';

export interface Setting {
  readonly name: string;
  readonly value: string;
}

const fileMaxBytes = 1024 * 1024;

/** NAME=value lines (--variable-file) or Name: value lines (--header-file): secrets come from files, never from arguments. */
export async function readSettings(flag: string, file: string, separator: '=' | ':'): Promise<Setting[]> {
  const options = { sizeMaxBytes: fileMaxBytes, name: `${flag} "${file}"`, takesPipes: true };
  const text = readBounded(file, options).toString('utf8');
  return text.split(/\r?\n/).flatMap((line, index) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const at = trimmed.indexOf(separator);
    const name = trimmed
      .slice(0, at)
      .replace(/^export\s+/, '')
      .trim();
    if (at < 1 || !/^[A-Za-z0-9_.-]+$/.test(name)) {
      throw new SvcError('invalid_input', `${flag} "${file}", line ${index + 1}: it must be NAME${separator}value.`);
    }
    return [{ name, value: unquoted(trimmed.slice(at + 1).trim()) }];
  });
}

function unquoted(value: string): string {
  const quote = value[0];
  return value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote) ? value.slice(1, -1) : value;
}
