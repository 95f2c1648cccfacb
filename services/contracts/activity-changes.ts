/** What an entry of the activity says about the fields of an object. Never a secret: of a secret only that it changed. */
export type Changes = Readonly<Record<string, FieldChange>>;
/** A long or secret text is recorded as `changed`. */
export type FieldChange = { readonly from?: FieldValue; readonly to?: FieldValue } | 'changed';
export type FieldValue = string | number | boolean | null | readonly string[];

/** Kinds of objects that people change at the same time. */
export type ChangedObject = 'role' | 'skill' | 'mcpServer' | 'key' | 'member' | 'runtime';

/** Changes as the activity stores them. */
export function parseChanges(text: string): Changes {
  const { removedTools, removedRules, replaces, ...changes }: Changes = JSON.parse(text);
  // The other values are those of the new key.
  if (replaces !== undefined) return { replaces };
  // A role loses its rules about a removed MCP server.
  if (typeof removedRules === 'object') return { ...changes, rules: { from: removedRules.to ?? null, to: [] } };
  // A skill loses the tools of a removed MCP server.
  if (typeof removedTools !== 'object') return changes;
  return { ...changes, tools: { from: removedTools.to ?? null, to: [] } };
}

/** One change for each field, from the oldest value to the latest. `latestFirst` are successive changes of one object. */
export function mergeChanges(latestFirst: readonly Changes[]): Changes {
  const merged: Record<string, FieldChange> = {};
  for (const changes of latestFirst.toReversed()) {
    for (const [field, change] of Object.entries(changes)) merged[field] = mergeChange(merged[field], change);
  }
  return Object.fromEntries(Object.entries(merged).filter(([, change]) => change === 'changed' || !isSame(change)));
}

function mergeChange(earlier: FieldChange | undefined, later: FieldChange): FieldChange {
  if (earlier === undefined) return later;
  if (earlier === 'changed' || later === 'changed') return 'changed';
  return { from: earlier.from ?? null, to: later.to ?? null };
}

function isSame({ from, to }: Exclude<FieldChange, 'changed'>): boolean {
  return JSON.stringify(from ?? null) === JSON.stringify(to ?? null);
}

/** `description from "a" to "b"; instructions`. Empty without changes. */
export function describeChanges(changes: Changes): string {
  const all = Object.entries(changes);
  const told = all.slice(0, fieldsShownMax).map(([field, change]) => describe(field, change));
  return [...told, ...(all.length > fieldsShownMax ? [`${all.length - fieldsShownMax} more`] : [])].join('; ');
}

const fieldsShownMax = 10;

function describe(field: string, change: FieldChange): string {
  if (field === 'replaces') return 'another key replaces it';
  if (change === 'changed') return field;
  const [from, to] = [change.from ?? null, change.to ?? null];
  if (field.startsWith('file ')) return `${field} ${from === null ? 'added' : to === null ? 'removed' : 'replaced'}`;
  const areLists = [from, to].some(isList) && [from, to].every((value) => value === null || isList(value));
  if (areLists) return describeLists(field, listOf(from), listOf(to));
  return `${field} from ${shown(field, from)} to ${shown(field, to)}`;
}

/** A list may have a thousand entries, of which one differs. */
function describeLists(field: string, from: readonly string[], to: readonly string[]): string {
  const [added, removed] = [new Set(to).difference(new Set(from)), new Set(from).difference(new Set(to))];
  const parts = [
    ...(added.size === 0 ? [] : [`with ${listed(added)}`]),
    ...(removed.size === 0 ? [] : [`without ${listed(removed)}`]),
  ];
  return [field, parts.join(' and ')].filter((part) => part !== '').join(' ');
}

function listed(entries: ReadonlySet<string>): string {
  const shown = [...entries].slice(0, entriesShownMax).map((entry) => JSON.stringify(entry));
  return shown.join(', ') + (entries.size > entriesShownMax ? ` and ${entries.size - entriesShownMax} more` : '');
}

const entriesShownMax = 5;

function listOf(value: FieldValue): readonly string[] {
  return isList(value) ? value : [];
}

function isList(value: FieldValue): value is readonly string[] {
  return Array.isArray(value);
}

function shown(field: string, value: FieldValue): string {
  if (value === null) return 'none';
  if (typeof value === 'number' && field.endsWith('At')) return new Date(value).toISOString();
  if (isList(value)) return listed(new Set(value));
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > shownLengthMax ? `${value.slice(0, shownLengthMax)}…` : value);
}

/** A message is read in one line. */
const shownLengthMax = 80;
