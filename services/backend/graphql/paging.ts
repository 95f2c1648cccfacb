import { SvcError } from '../../contracts/errors.ts';
import type { Cursor } from '../graph/graph.ts';
import type { Builder } from './builder.ts';

/** Nodes of a page. */
export const pageSizeMax = 100;
/** Nodes of a list without further pages, because the limits of its owner bound it. */
export const listSizeMax = 1000;

/** Adds `PageInfo`; the page types are beside their nodes. */
export function addPaging(builder: Builder): void {
  builder.objectType('PageInfo', { fields: (t) => ({ next: t.exposeString('next', { nullable: true }) }) });
}

/** Arguments of a field with pages. */
export function pageArgs(builder: Builder) {
  return builder.args((t) => ({ first: t.int({ defaultValue: pageSizeMax }), after: t.string() }));
}

/** Like `pageArgs`, for searchable nodes. */
export function searchArgs(builder: Builder) {
  return { ...pageArgs(builder), ...builder.args((t) => ({ search: t.string() })) };
}

/** The argument of a field with a list without pages. */
export function listArgs(builder: Builder, whenUnset = 100) {
  return builder.args((t) => ({ first: t.int({ defaultValue: whenUnset }) }));
}

interface PageArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly search?: string | null | undefined;
}

/** The part of a selection that the arguments decide: `graph.select({ type, anchor, ...pageOf(args) })`. */
export function pageOf({ first, after, search }: PageArguments): { limit: number; after?: Cursor; search?: string } {
  return {
    limit: parseFirst(first ?? pageSizeMax, pageSizeMax),
    ...(after == null ? {} : { after: parseCursor(after) }),
    ...(search == null || search.trim() === '' ? {} : { search: parseSearch(search) }),
  };
}

/** Size of a list without pages: `load.skillsOfRole(role, listOf(args.first))`. */
export function listOf(first: number | null | undefined, whenUnset = 100): number {
  return parseFirst(first ?? whenUnset, listSizeMax);
}

function parseFirst(first: number, max: number): number {
  if (first >= 1 && first <= max) return first;
  throw new SvcError('invalid_input', `"first" is ${first}: it must be from 1 to ${max}.`);
}

const cursorLengthMax = 2048;
const searchLengthMax = 256;

/** The graph checks the content. */
function parseCursor(text: string): Cursor {
  if (text.length > 0 && text.length <= cursorLengthMax) return text as Cursor;
  throw new SvcError('invalid_input', '"after" must be the "next" of an earlier page.');
}

export function parseSearch(text: string): string {
  if (text.length <= searchLengthMax) return text.trim();
  throw new SvcError('invalid_input', `"search" must be at most ${searchLengthMax} characters long.`);
}
