import { type ParseError, parse as parseJsonc, printParseErrorCode } from 'jsonc-parser';
import { parse as parseTomlText, TomlError } from 'smol-toml';
import { SvcError } from '../../services/contracts/errors.ts';

/** Content of a configuration file. A broken file is refused with line and column, and without its text. */
export function parseConfig(format: 'json' | 'toml', text: string, file: string): unknown {
  try {
    return format === 'json' ? parseJsonConfig(text, file) : parseTomlConfig(text, file);
  } catch (error) {
    // The parser of JSON calls itself for each level.
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError('invalid_input', `"${file}" cannot be read: it is nested too deeply.`, { cause: error });
  }
}

function parseJsonConfig(text: string, file: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parseJsonc(text, errors, { allowTrailingComma: true, disallowComments: false });
  const [error] = errors;
  if (error === undefined) return value;
  const before = text.slice(0, error.offset).split(/\r\n|\n|\r/);
  const column = (before.at(-1)?.length ?? 0) + 1;
  throw broken(file, { line: before.length, column }, wordsOf(printParseErrorCode(error.error)));
}

/** "CloseBraceExpected" as "close brace expected". */
function wordsOf(code: string): string {
  return code.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

function parseTomlConfig(text: string, file: string): unknown {
  try {
    return parseTomlText(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Its first line is the cause; the others repeat the file, which may hold secrets.
    const [cause = ''] = error.message.split('\n', 1);
    throw broken(file, error, cause.replace(/^Invalid TOML document: /, ''));
  }
}

function broken(file: string, at: { readonly line: number; readonly column: number }, cause: string): SvcError {
  return new SvcError('invalid_input', `"${file}" cannot be read: line ${at.line}, column ${at.column}: ${cause}.`, {
    hint: 'Correct the file first. Nothing was changed.',
  });
}
