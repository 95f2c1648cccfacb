import { Document } from 'yaml';
import { z } from 'zod';
import { SvcError } from '../../services/contracts/errors.ts';
import { isToolPattern, parseToolPattern } from '../../services/contracts/tool-pattern.ts';
import { instructionsMaxBytes, toolNameLengthMax } from '../../services/contracts/workspace-limits.ts';
import { YamlText } from '../settings/yaml-text.ts';

/** A tool by its MCP server's name and its own, or a pattern of tools. */
export interface ToolRef {
  readonly mcpServer: string;
  readonly tool: string;
}

/** What the platform takes of a SKILL.md (Agent Skills). */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** Undefined when the text names none of the platform's tools. */
  readonly tools: readonly ToolRef[] | undefined;
}

/** The names of a thousand tools fit beside the longest instructions. */
export const skillTextMaxBytes = instructionsMaxBytes + 2 * 1024 * 1024;

export interface ParsedSkillText extends SkillText {
  /** Fields, and tools of other programs, that the platform does not take. */
  readonly unused: readonly string[];
}

/**
 * Parses YAML between two lines of dashes, then the instructions. The instructions are the text after one empty line
 * and before the last line break, so that `formatSkillText` can write any text.
 */
export function parseSkillText(text: string, file: string): ParsedSkillText {
  const [, end = '\n', yaml = '', rest = ''] =
    /^\uFEFF?---(\r?\n)([\s\S]*?)\r?\n---(?:\r?\n([\s\S]*))?$/.exec(text) ?? [];
  const parsed = frontMatter.safeParse(new YamlText(yaml).value).data;
  if (parsed === undefined) {
    throw new SvcError('invalid_input', `"${file}" must begin with "---", a name and a description, and "---".`);
  }
  const { name, description, 'allowed-tools': allowed, ...others } = parsed;
  const words = typeof allowed === 'string' ? (allowed.match(allowedWord) ?? []) : (allowed ?? []);
  const tools = words.flatMap((word) => findToolRef(word) ?? []);
  const instructions = withoutLast(withoutFirst(rest, end), end);
  if (Buffer.byteLength(instructions) > instructionsMaxBytes) {
    throw new SvcError('too_large', `"${file}" has instructions longer than ${instructionsMaxBytes / 1024} KB.`);
  }
  return {
    ...{ name, description, instructions, tools: tools.length === 0 ? undefined : tools },
    unused: [
      ...Object.keys(others),
      ...words.filter((word) => findToolRef(word) === null).map((word) => `allowed-tools: ${word}`),
    ],
  };
}

const frontMatter = z.looseObject({
  name: z.string(),
  description: z
    .string()
    .nullish()
    .transform((given) => given ?? ''),
  'allowed-tools': z.union([z.string(), z.array(z.string())]).nullish(),
});

/** A word may hold spaces in parentheses, such as Bash(git add:*). */
const allowedWord = /(?:[^\s,(]|\([^)]*\))+/g;
const toolOfPlatform = new RegExp(`^([A-Za-z0-9_-]{1,32})/([^]{1,${toolNameLengthMax}})$`);

function findToolRef(word: string): ToolRef | null {
  const [, mcpServer, tool] = toolOfPlatform.exec(word) ?? [];
  if (mcpServer === undefined || tool === undefined) return null;
  return { mcpServer, tool: isToolPattern(tool) ? parseToolPattern(tool) : tool };
}

function withoutFirst(text: string, end: string): string {
  return text.startsWith(end) ? text.slice(end.length) : text;
}

function withoutLast(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}

/** The text of a SKILL.md, which `parseSkillText` reads back to the same skill. */
export function formatSkillText({ name, description, instructions, tools = [] }: SkillText): string {
  const refs = tools.map(({ mcpServer, tool }) => `${mcpServer}/${tool}`).toSorted();
  // The format has words between spaces. A list holds names with spaces too.
  const allowed = refs.every((ref) => ref.match(allowedWord)?.[0] === ref) ? refs.join(' ') : refs;
  const fields = { name, description, ...(refs.length === 0 ? {} : { 'allowed-tools': allowed }) };
  const yaml = new Document(fields).toString({
    lineWidth: 0,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
  });
  return `---\n${yaml.trimEnd()}\n---\n\n${instructions}\n`;
}
