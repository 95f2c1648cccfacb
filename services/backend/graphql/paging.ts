import { SvcError } from '../../contracts/errors.ts';
import type { Cursor } from '../graph/graph.ts';
import type { Builder } from './builder.ts';

/** Nodes of a page. */
export const pageMax = 100;
/** Nodes of a list that has no further pages, because the rules of its owner bound it. */
export const listMax = 1000;

/** Adds `PageInfo`; the page types lie with their nodes. */
export function addPaging(builder: Builder): void {
  builder.objectType('PageInfo', { fields: (t) => ({ next: t.exposeString('next', { nullable: true }) }) });
}

export interface PageArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly search?: string | null | undefined;
}

/** The part of a selection that a caller's arguments decide: `graph.select({ type, anchor, ...pageOf(args) })`. */
export function pageOf(given: PageArguments): { limit: number; after?: Cursor; search?: string } {
  return {
    limit: parseFirst(given.first, pageMax, 100),
    ...(given.after == null ? {} : { after: parseCursor(given.after) }),
    ...(given.search == null || given.search.trim() === '' ? {} : { search: parseSearch(given.search) }),
  };
}

/** How many a list without pages may hold: `load.skillsOfRole(role.id, listOf(args.first))`. */
export function listOf(first: number | null | undefined, whenUnset = 100): number {
  return parseFirst(first, listMax, whenUnset);
}

function parseFirst(first: number | null | undefined, max: number, whenUnset: number): number {
  const limit = first ?? whenUnset;
  if (limit >= 1 && limit <= max) return limit;
  throw new SvcError('invalid_input', `"first" is ${limit}: it must be from 1 to ${max}.`);
}

const cursorLengthMax = 2048;
const searchLengthMax = 256;

/** The graph checks what is inside. */
function parseCursor(text: string): Cursor {
  if (text.length > 0 && text.length <= cursorLengthMax) return text as Cursor;
  throw new SvcError('invalid_input', '"after" must be the "next" of an earlier page.');
}

function parseSearch(text: string): string {
  if (text.length <= searchLengthMax) return text.trim();
  throw new SvcError('invalid_input', `"search" must be at most ${searchLengthMax} characters long.`);
}
