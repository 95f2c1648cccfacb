import { SvcError } from './errors.ts';
import { withoutHidden } from './hidden-characters.ts';
import { findId, type IdKind, idPrefixes } from './ids.ts';

/**
 * Rules for names that people give. One rule for each kind, so that a name fits in URLs, tool names, tables and
 * prompts.
 */
const rules = {
  workspace: shown('a workspace'),
  role: shown('a role'),
  key: shown('a key'),
  runtime: shown('a runtime'),
  /** Agent Skills, "name": lower-case letters, digits and single hyphens inside. */
  skill: {
    of: 'a skill',
    pattern: /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/,
    rule: '1 to 64 of a-z, 0-9 and single hyphens between them',
  },
  /** Part of the tool names that agents see (SERVER_TOOL), which are at most 64 long. */
  mcpServer: { of: 'an MCP server', pattern: /^[a-zA-Z0-9_-]{1,32}$/, rule: '1 to 32 of a-z, A-Z, 0-9, _ and -' },
} as const satisfies Record<string, NameRule>;

export type NameKind = keyof typeof rules;

interface NameRule {
  readonly of: string;
  readonly pattern: RegExp;
  readonly rule: string;
}

/** A name in its stored form: without spaces around it. */
export function parseName(kind: NameKind, text: string): string {
  const { of, pattern, rule } = rules[kind];
  const name = text.trim();
  if (!pattern.test(name)) {
    throw new SvcError('invalid_input', `"${name.slice(0, 80)}" is not a valid name for ${of}: it must be ${rule}.`);
  }
  if (looksLikeId(name)) {
    throw new SvcError('invalid_input', `"${name}" is not a valid name for ${of}: it looks like an id.`);
  }
  return name;
}

const personNameLengthMax = 80;

/** People's own names, in any script. */
export function parsePersonName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= personNameLengthMax && !/\p{C}/u.test(name)) return name;
  throw new SvcError(
    'invalid_input',
    `A name has 1 to ${personNameLengthMax} characters, and no line breaks or invisible characters.`,
  );
}

const passkeyNameLengthMax = 64;

export function parsePasskeyName(text: string): string {
  const name = text.trim();
  const isName =
    name !== '' && [...name].length <= passkeyNameLengthMax && !/[\n\t]/.test(name) && withoutHidden(name) === name;
  if (isName) return name;
  throw new SvcError('invalid_input', `A name of a passkey must have 1 to ${passkeyNameLengthMax} visible characters.`);
}

export const descriptionLengthMax = 1024;

export function parseDescription(text: string): string {
  const description = text.trim();
  if (description.includes('\0') || !description.isWellFormed()) {
    throw new SvcError('invalid_input', 'The description holds a zero byte or half a character.');
  }
  if (description.length <= descriptionLengthMax) return description;
  throw new SvcError('invalid_input', `The description is too long: at most ${descriptionLengthMax} characters.`);
}

function shown(of: string): NameRule {
  return {
    of,
    pattern: /^[A-Za-z0-9 _.-]{1,64}$/,
    rule: '1 to 64 of a-z, A-Z, 0-9, spaces, hyphens, underscores and dots',
  };
}

/** A name must not look like an id, because callers may give either. */
function looksLikeId(name: string): boolean {
  return kinds.some((kind) => findId(kind, name) !== null);
}

const kinds = Object.keys(idPrefixes).filter((kind): kind is IdKind => kind in idPrefixes);
