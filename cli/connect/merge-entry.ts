import { isDeepStrictEqual } from 'node:util';
import type { ConfiguredClient, Connection, Entry } from '../../services/contracts/clients/clients.ts';
import { inputOf, tomlLines, tomlTable } from '../../services/contracts/clients/snippet.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import { isObject } from '../../services/contracts/is-object.ts';
import { parseConfig } from './config-document.ts';
import { appendInJson, setInJson } from './edit-json.ts';

export interface Merge {
  readonly client: ConfiguredClient;
  readonly connection: Connection;
  /** For messages. */
  readonly file: string;
}

/** The text with the client's entry for the platform. All other text stays, with its comments and its layout. */
export function mergeEntry(text: string, merge: Merge): string {
  const { client, connection, file } = merge;
  const [bom, body] = text.startsWith('\ufeff') ? ['\ufeff', text.slice(1)] : ['', text];
  const before = body.trim() === '' ? {} : parseConfig(client.format, body, file);
  const existing = existingEntry(before, merge);
  const entry = client.entry(connection);
  if (existing !== null) refuseOtherKind(existing, entry, merge);
  const merged = client.format === 'json' ? mergeJson(body, before, merge) : mergeToml(body, existing !== null, merge);
  if (!isMerged({ before, after: parseMerged(merged, merge), entry }, merge)) throw byHand(merge);
  return bom + merged;
}

function parseMerged(text: string, merge: Merge): unknown {
  try {
    return parseConfig(merge.client.format, text, merge.file);
  } catch {
    throw byHand(merge);
  }
}

function existingEntry(
  document: unknown,
  { client, connection, file }: Merge,
): Readonly<Record<string, unknown>> | null {
  if (!isObject(document)) throw otherForm(file, 'it must hold an object');
  const servers = document[client.member];
  if (servers === undefined) return null;
  if (!isObject(servers)) throw otherForm(file, `"${client.member}" must be an object`);
  const existing = servers[connection.name];
  if (existing === undefined) return null;
  if (isObject(existing)) return existing;
  throw otherForm(file, `"${client.member}.${connection.name}" must be an object`);
}

function otherForm(file: string, rule: string): SvcError {
  return new SvcError('invalid_input', `"${file}" has another form: ${rule}. Nothing was changed.`);
}

/** An entry of the same name may be another MCP server, which must not become half of this one. */
function refuseOtherKind(existing: Readonly<Record<string, unknown>>, entry: Entry, { connection, file }: Merge): void {
  const kindOf = (fields: object) => ('command' in fields ? 'a command' : 'an address');
  if (kindOf(existing) === kindOf(entry)) return;
  throw new SvcError(
    'conflict',
    `"${connection.name}" in "${file}" has ${kindOf(existing)}, so it is another MCP server.`,
    {
      hint: 'Choose another name with --name, or remove that entry first.',
    },
  );
}

function mergeJson(text: string, before: unknown, { client, connection }: Merge): string {
  const entry = client.entry(connection);
  const path = [client.member, connection.name];
  const changes = valueAt(before, path) === undefined ? [{ path, value: entry }] : leavesOf(entry, path);
  const merged = changes
    .filter((change) => !isDeepStrictEqual(valueAt(before, change.path), change.value))
    .reduce((changed, change) => setInJson(changed, change.path, change.value), text.trim() === '' ? '{}\n' : text);
  if (client.keyFrom !== 'input' || connection.key !== null) return merged;
  const input = inputOf(connection.name);
  const inputs = valueAt(before, ['inputs']);
  if (Array.isArray(inputs) && inputs.some((one) => isObject(one) && one.id === input.id)) return merged;
  return appendInJson(merged, ['inputs'], input);
}

interface Leaf {
  readonly path: string[];
  readonly value: unknown;
}

/** The fields that are set one by one, so that a person's own fields beside them stay. */
function leavesOf(entry: Entry, path: readonly string[]): Leaf[] {
  return Object.entries(entry).flatMap(([field, value]) =>
    isObject(value)
      ? Object.entries(value).map(([name, text]) => ({ path: [...path, field, name], value: text }))
      : [{ path: [...path, field], value }],
  );
}

function valueAt(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** Fields of an entry of Codex that say where the key comes from. Only one of them may stay. */
const keyFields: readonly string[] = ['bearer_token_env_var', 'http_headers'];

function mergeToml(text: string, exists: boolean, { client, connection }: Merge): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const entry = client.entry(connection);
  if (!exists) {
    const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
    return `${text}${gap}${tomlTable(client.member, connection.name, entry).replaceAll('\n', eol)}${eol}`;
  }
  const lines = text.split('\n');
  const head = lines.findIndex((line) => headOf(line) === `${client.member}.${connection.name}`);
  if (head === -1) return text;
  const next = lines.findIndex((line, at) => at > head && headOf(line) !== null);
  const end = next === -1 ? lines.length : next;
  const wanted = new Map(tomlLines(entry));
  const kept = lines.slice(head + 1, end).flatMap((line) => {
    const field = /^\s*["']?([\w-]+)["']?\s*=/.exec(line)?.[1] ?? '';
    const own = wanted.get(field);
    if (own === undefined) return keyFields.includes(field) ? [] : [line];
    wanted.delete(field);
    return [line.endsWith('\r') ? `${own}\r` : own];
  });
  const added = [...wanted.values()].map((line) => (eol === '\r\n' ? `${line}\r` : line));
  return [...lines.slice(0, head + 1), ...added, ...kept, ...lines.slice(end)].join('\n');
}

/** The name in the header of a table, without quotes. A header inside a text of several lines is found by the check afterwards. */
function headOf(line: string): string | null {
  const name = /^\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?\r?$/.exec(line)?.[1];
  return name === undefined ? null : name.replace(/["']/g, '').replace(/\s*\.\s*/g, '.');
}

interface Merged {
  readonly before: unknown;
  readonly after: unknown;
  readonly entry: Entry;
}

/** Whether the new text says what was there before, and the entry. A text in an unusual form fails here. */
function isMerged({ before, after, entry }: Merged, { client, connection }: Merge): boolean {
  const path = [client.member, connection.name];
  const isThere = leavesOf(entry, path).every((leaf) => isDeepStrictEqual(valueAt(after, leaf.path), leaf.value));
  const others = (document: unknown) => {
    if (!isObject(document)) return document;
    const { [client.member]: servers = {}, inputs: _inputs, ...rest } = document;
    if (!isObject(servers)) return document;
    const { [connection.name]: _own, ...otherServers } = servers;
    return { rest, otherServers };
  };
  return isThere && isDeepStrictEqual(plain(others(before)), plain(others(after)));
}

/** TOML objects have no prototype, which a comparison would see. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? String(part) : part)));
}

function byHand({ client, connection, file }: Merge): SvcError {
  return new SvcError(
    'unsupported',
    `"${file}" is written in a form that cannot be changed safely. Nothing was changed.`,
    {
      hint: `Put the entry "${connection.name}" into it by hand: svc connect --client ${client.name}`,
    },
  );
}
