import { expect, test } from 'vitest';
import { ListReader, type Page } from './list-reader.ts';

const pageSize = 3;

/** A list by name in pages of three, whose cursors are the last name of a page, and a reader of it. */
function follow(names: string, pagesWanted = 1) {
  let list = [...names];
  const asked: string[] = [];
  const read: string[] = [];
  const failures: unknown[] = [];
  const pageAfter = (after: string): Page<{ id: string }> => {
    const rest = list.filter((name) => name > after);
    const nodes = rest.slice(0, pageSize).map((id) => ({ id }));
    return { nodes, pageInfo: { next: rest.length > pageSize ? (nodes.at(-1)?.id ?? null) : null } };
  };
  let refusal: Error | null = null;
  let answer: () => Promise<void> = async () => undefined;
  const source = {
    ask: async (after: string) => {
      asked.push(after);
      await answer();
      if (refusal !== null) throw refusal;
      return pageAfter(after);
    },
    onRead: ({ rows }: { readonly rows: readonly { readonly id: string }[] }) =>
      void read.push(rows.map(({ id }) => id).join('')),
    onFailed: (failed: unknown) => void failures.push(failed),
  };
  const reader = new ListReader<{ id: string }>(source, pagesWanted);
  return {
    ...{ reader, asked, read, failures },
    become: (after: string) => {
      list = [...after];
      reader.changed(pageAfter(''));
    },
    refuse: (error: Error | null) => {
      refusal = error;
    },
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      answer = () => promise;
      return resolve;
    },
  };
}

/** All answers are there by then. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

async function loaded(names: string) {
  const list = follow(names);
  list.become(names);
  for (let row = pageSize; row < names.length; row += pageSize) {
    await settled();
    list.reader.more();
  }
  await settled();
  expect(list.read.at(-1)).toBe(names);
  list.asked.length = 0;
  return list;
}

test('each page is asked for once as more is wanted', async () => {
  const list = follow('');
  list.become('bcdefghi');
  expect([list.read, list.asked]).toEqual([[], []]);
  await settled();
  list.reader.more();
  list.reader.more();
  await settled();
  list.reader.more();
  await settled();
  list.reader.more();
  await settled();
  expect([list.read, list.asked]).toEqual([
    ['bcd', 'bcdefg', 'bcdefghi'],
    ['d', 'g'],
  ]);
});

test.each([
  ['comes into the first page', 'bcdfhjlnp'],
  ['comes into a later page', 'bdfhjklnp'],
  ['leaves the first page', 'dfhjlnp'],
  ['leaves the end of the first page', 'bdhjlnp'],
  ['leaves the beginning of a page', 'bdfjlnp'],
])('no other row is lost or shown twice where a row %s', async (_what, names) => {
  const list = await loaded('bdfhjlnp');
  list.become(names);
  await settled();
  expect(list.read.at(-1)).toBe(names);
});

test('without a row that came or went, the loaded pages are asked for at once', async () => {
  const list = await loaded('bcdefghi');
  const answer = list.hold();
  list.become('bcdefghi');
  expect(list.asked).toEqual(['d', 'g']);
  answer();
  await settled();
  expect([list.read.at(-1), list.asked]).toEqual(['bcdefghi', ['d', 'g']]);
});

test('changes during a reading make one more reading', async () => {
  const list = await loaded('bcdefghi');
  const answer = list.hold();
  list.become('abcdefghi');
  for (const names of ['abdefghi', 'adefghi', 'efghi']) list.become(names);
  answer();
  await settled();
  expect(list.read.slice(-1)).toEqual(['efghi']);
  expect(list.read).toHaveLength(5);
});

test('after a refusal the rows stay, and the next change reads as many again', async () => {
  const list = await loaded('bcdefghi');
  const before = [...list.read];
  list.refuse(new Error('unavailable'));
  list.become('abcdefghi');
  await settled();
  expect([list.read, list.failures]).toEqual([before, [new Error('unavailable')]]);
  list.refuse(null);
  list.become('abcdefghi');
  await settled();
  expect(list.read.at(-1)).toBe('abcdefghi');
});

test('a list that is wanted whole is shown once it is whole, also after it grew', async () => {
  const list = follow('', Number.POSITIVE_INFINITY);
  list.become('abcdefgh');
  await settled();
  list.become('abcdefghijklm');
  await settled();
  expect(list.read).toEqual(['abcdefgh', 'abcdefghijklm']);
});
