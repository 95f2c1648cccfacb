import { expandLaunch, readServers } from '../../../contracts/clients/read-servers.ts';
import { SvcError } from '../../../contracts/errors.ts';
import { parseName } from '../../../contracts/names.ts';
import type { McpServerInput } from '../../graphql/generated/operations.ts';

/** What a person typed or pasted into one field, as MCP servers to add. */
export type TypedLaunch =
  | { readonly kind: 'empty' }
  | { readonly kind: 'wrong'; readonly problem: string }
  | { readonly kind: 'command' | 'url'; readonly launch: McpServerInput['launch']; readonly suggestedName: string }
  | { readonly kind: 'block'; readonly servers: readonly McpServerInput[] };

/** Reads an address, a command, or the JSON that an MCP server's documentation shows for an agent. */
export function readTypedLaunch(text: string): TypedLaunch {
  const typed = text.trim();
  if (typed === '') return { kind: 'empty' };
  if (typed.startsWith('{') || typed.startsWith('"')) return readBlock(typed);
  if (/^https?:\/\//i.test(typed)) return readUrl(typed);
  const words = wordsOf(typed);
  if (words === null) return { kind: 'wrong', problem: 'A quotation mark in the command is not closed.' };
  const [command = '', ...args] = words;
  return { kind: 'command', launch: { command, args }, suggestedName: nameFrom(packageOf(words)) };
}

function readUrl(typed: string): TypedLaunch {
  if (!URL.canParse(typed)) return { kind: 'wrong', problem: `"${typed.slice(0, 80)}" is not an address.` };
  const { hostname } = new URL(typed);
  const labels = hostname.split('.').filter((label) => !['www', 'mcp', 'api'].includes(label));
  return { kind: 'url', launch: { url: typed }, suggestedName: nameFrom(labels[0] ?? hostname) };
}

function readBlock(typed: string): TypedLaunch {
  let document: unknown;
  try {
    // Documentation often shows the member without the braces around it.
    document = JSON.parse(typed.startsWith('"') ? `{${typed.replace(/,\s*$/, '')}}` : typed);
  } catch {
    return { kind: 'wrong', problem: 'The text is not JSON. Paste the whole block with its braces.' };
  }
  const read = readServers(document, '') ?? readServers({ mcpServers: document }, '');
  if (read === null || read.servers.length === 0) {
    return { kind: 'wrong', problem: 'The JSON names no MCP server. It needs "mcpServers" with one entry for each.' };
  }
  const servers: McpServerInput[] = [];
  for (const { name, entry } of read.servers) {
    if (entry.kind === 'unreadable') return { kind: 'wrong', problem: `"${name}" cannot be read: ${entry.problem}.` };
    const { launch, missing } = expandLaunch(entry, { find: () => undefined, folders: {} });
    if (missing.length > 0) {
      const names = missing.map((reference) => reference.name).join(', ');
      return {
        kind: 'wrong',
        problem: `"${name}" refers to values that this page cannot know: ${names}. Put them in.`,
      };
    }
    try {
      servers.push({ name: parseName('mcpServer', name), launch });
    } catch (error) {
      return { kind: 'wrong', problem: error instanceof SvcError ? error.message : String(error) };
    }
  }
  return { kind: 'block', servers };
}

/** Words as a shell splits them, with quotes and without anything else of a shell. Null: a quotation is not closed. */
export function wordsOf(text: string): readonly string[] | null {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const [whole = ''] = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/s.exec(rest) ?? [];
    if (whole === '') return null;
    words.push(whole.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs, unquoted));
    rest = rest.slice(whole.length);
    if (rest !== '' && !/^\s/.test(rest)) return null;
    rest = rest.trimStart();
  }
  return words;
}

function unquoted(_all: string, double: string | undefined, single: string | undefined, escaped: string): string {
  return double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? escaped;
}

/** The word of a command that says most about what runs: the package, or the file. */
function packageOf(words: readonly string[]): string {
  const [command = '', ...args] = words;
  const word = args.find((arg) => !arg.startsWith('-')) ?? command;
  return (word.split('/').at(-1) ?? word).replace(/@[^@]*$/, '').replace(/\.\w+$/, '');
}

function nameFrom(text: string): string {
  const name = text.replace(/^(mcp-)?server-|^mcp-|-mcp(-server)?$/g, '').replace(/[^a-zA-Z0-9_-]+/g, '-');
  return name.slice(0, 32).replace(/^-+|-+$/g, '');
}
