import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ShownError } from '../graphql/shown-error.ts';
import { Details } from './details-panel.tsx';
import { List } from './list.tsx';

const refusal = new ShownError({ code: 'unavailable', message: 'It is away.', hint: null, requestId: null });
const nothing = () => undefined;

interface Row {
  readonly id: string;
}

interface Answer {
  readonly rows: readonly Row[] | null;
  readonly error?: ShownError;
  readonly hasMore?: boolean;
}

/** What a list shows, as words: `refusal`, `shape`, `none`, `table`. */
function partsOfList({ rows, error = undefined, hasMore = false }: Answer): string {
  const list = createElement(List<Row>, {
    of: { rows, error: error ?? null, retry: nothing, hasMore, loadMore: nothing },
    none: 'None yet.',
    ...{ label: 'Files', columns: [], onOpen: nothing },
  });
  return partsOf(list);
}

function partsOf(element: ReturnType<typeof createElement>): string {
  const html = renderToStaticMarkup(element);
  const marks = { refusal: 'It is away.', shape: 'aria-label="Loading"', none: 'None yet.', table: 'role="grid"' };
  const found = Object.entries({ ...marks, details: 'Details of a', missing: 'No such file.' });
  return found.flatMap(([part, mark]) => (html.includes(mark) ? [part] : [])).join(' ');
}

test('a list is a shape until it is read, then its rows or why there are none', () => {
  expect(partsOfList({ rows: null })).toBe('shape');
  expect(partsOfList({ rows: [{ id: 'a' }] })).toBe('table');
  expect(partsOfList({ rows: [] })).toBe('none');
});

test('a refused list says why, above the rows that were read before', () => {
  expect(partsOfList({ rows: null, error: refusal })).toBe('refusal');
  expect(partsOfList({ rows: [], error: refusal })).toBe('refusal none');
  expect(partsOfList({ rows: [{ id: 'a' }], error: refusal })).toBe('refusal table');
});

test('a list with an empty page and further ones is not yet said to be empty', () => {
  expect(partsOfList({ rows: [], hasMore: true })).toBe('shape');
});

interface Asked {
  readonly of: Row | null | undefined;
  readonly isAwaited?: boolean;
  readonly error?: ShownError;
}

function partsOfDetails(asked: Asked): string {
  return partsOf(
    createElement(Details<Row>, {
      ...{ missing: 'No such file.', ...asked },
      // biome-ignore lint/correctness/noChildrenProp: a function of the row
      children: ({ id }) => `Details of ${id}`,
    }),
  );
}

test('details are a shape until its row is known, then themselves or that there is no such row', () => {
  expect(partsOfDetails({ of: null, isAwaited: true })).toBe('shape');
  expect(partsOfDetails({ of: { id: 'a' }, isAwaited: true })).toBe('details');
  expect(partsOfDetails({ of: { id: 'a' } })).toBe('details');
  expect(partsOfDetails({ of: undefined })).toBe('missing');
  expect(partsOfDetails({ of: null })).toBe('missing');
});

test('refused details say why, and never that there is no such row', () => {
  expect(partsOfDetails({ of: undefined, isAwaited: true, error: refusal })).toBe('refusal');
  expect(partsOfDetails({ of: { id: 'a' }, error: refusal })).toBe('refusal details');
});
