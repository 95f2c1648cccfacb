import { readBounded } from '../../stack/machine/bounded-file.ts';
import { readBoundedStdin } from './stdin.ts';

/** The largest argument that remote-mcp takes. */
const inputMaxBytes = 16 * 1024 * 1024;

/** The text of a file, or of standard input. */
export async function readInput(flag: string, file: string): Promise<string> {
  if (file === '-') return await readBoundedStdin(inputMaxBytes);
  const options = { sizeMaxBytes: inputMaxBytes, name: `${flag} "${file}"`, takesPipes: true };
  return readBounded(file, options).toString('utf8');
}
