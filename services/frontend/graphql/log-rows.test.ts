import { expect, test } from 'vitest';
import { withFirstPage, withNextPage } from './log-rows.ts';

const pageOf = (ids: string, next: string | null) => ({
  nodes: [...ids].map((id) => ({ id })),
  pageInfo: { next },
});
const idsOf = ({ rows }: { readonly rows: readonly { readonly id: string }[] }) => rows.map(({ id }) => id).join('');

const loaded = withNextPage(withFirstPage(null, pageOf('fed', 'd')), pageOf('cb', 'b'));

test('pages are put one behind the other', () => {
  expect([idsOf(loaded), loaded.next]).toEqual(['fedcb', 'b']);
});

test('new rows come first, and the one that left the first page stays', () => {
  const after = withFirstPage(loaded, pageOf('hgf', 'f'));
  expect([idsOf(after), after.next]).toEqual(['hgfedcb', 'b']);
});

test('a first page without news changes nothing', () => {
  expect(withFirstPage(loaded, pageOf('fed', 'd'))).toBe(loaded);
  expect(withFirstPage(loaded, pageOf('', 'x'))).toBe(loaded);
});

test('after more news than a page holds, the list begins anew instead of having a gap', () => {
  const after = withFirstPage(loaded, pageOf('zyx', 'x'));
  expect([idsOf(after), after.next]).toEqual(['zyx', 'x']);
});

test('a row is in the list once', () => {
  expect(idsOf(withNextPage(loaded, pageOf('ba', null)))).toBe('fedcba');
});
