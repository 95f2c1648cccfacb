import { expect, test } from 'vitest';
import { SvcError } from '../../services/contracts/errors.ts';
import { everyPage, type PageOf, type PageVariables } from './every-page.ts';

/** A list of this many numbers, with pages of at most the requested length. */
function listOf(length: number) {
  const asked: (string | null)[] = [];
  const fetchPage = async ({ first, after }: PageVariables): Promise<PageOf<number>> => {
    asked.push(after);
    const start = Number(after ?? 0);
    const end = Math.min(length, start + first);
    const nodes = Array.from({ length: end - start }, (_, i) => start + i);
    return { nodes, pageInfo: { next: end < length ? String(end) : null } };
  };
  return { asked, fetchPage };
}

test.each([0, 1, 100, 101, 1234])('a list of %d comes complete and in order', async (length) => {
  const { fetchPage } = listOf(length);
  expect(await everyPage(fetchPage)).toEqual(Array.from({ length }, (_, i) => i));
});

test('a given first page is not requested again', async () => {
  const { asked, fetchPage } = listOf(150);
  expect(await everyPage(fetchPage, await fetchPage({ first: 100, after: null }))).toHaveLength(150);
  expect(asked).toEqual([null, '100']);
});

test('an endless list is given up', async () => {
  const endless = async (): Promise<PageOf<number>> => ({ nodes: [], pageInfo: { next: 'more' } });
  await expect(everyPage(endless)).rejects.toMatchObject({ code: 'too_large' });
});

test('when a page is too large, smaller ones are requested', async () => {
  const { asked, fetchPage } = listOf(150);
  const atMost30 = async (page: PageVariables) => {
    if (page.first > 30) throw new SvcError('too_large', 'The answer is larger than 8 MiB.');
    return await fetchPage(page);
  };
  expect(await everyPage(atMost30)).toHaveLength(150);
  expect(asked).toEqual([null, '25', '50', '75', '100', '125']);
});

test('a single entry that is too large ends it', async () => {
  const tooLarge = async () => {
    throw new SvcError('too_large', 'The answer is larger than 8 MiB.');
  };
  await expect(everyPage(tooLarge)).rejects.toMatchObject({ code: 'too_large' });
});

test('a list whose owner was removed meanwhile is not found', async () => {
  await expect(everyPage(async () => undefined)).rejects.toMatchObject({ code: 'not_found' });
});
