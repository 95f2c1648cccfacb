import { expect, test } from 'vitest';
import type { Cursor, Node, Page } from '../graph/graph.ts';
import { fillPage } from './fill-page.ts';

/** A list of `count` nodes, which notes what is read of it. Its cursors are positions. */
function listOf(count: number) {
  const read: string[] = [];
  return {
    read,
    slice: async ({ limit, after }: { limit: number; after?: Cursor }): Promise<Page<'skill'>> => {
      const from = Number(after ?? 0);
      const end = Math.min(count, from + limit);
      read.push(`${from}-${end}`);
      const nodes = Array.from(
        { length: end - from },
        (_, at) => ({ position: from + at }) as unknown as Node<'skill'>,
      );
      return { nodes, next: end < count ? (`${end}` as Cursor) : null };
    },
  };
}

const all = (nodes: readonly Node<'skill'>[]) => nodes;
const none = () => [];

test('a list in which all match is read once for each page', async () => {
  const { read, slice } = listOf(100);
  expect(await fillPage({ limit: 10 }, { read: slice, pick: all, slicesMax: 5 })).toMatchObject({ next: '10' });
  expect(read).toEqual(['0-10']);
});

test('a page goes on from its cursor until it is more than half full', async () => {
  const { read, slice } = listOf(100);
  const pick = (nodes: readonly Node<'skill'>[]) => nodes.slice(0, 3);
  const { nodes, next } = await fillPage({ limit: 10, after: '20' as Cursor }, { read: slice, pick, slicesMax: 9 });
  expect([read, nodes.length, next]).toEqual([['20-30', '30-37'], 6, '37']);
});

test('a page in which nothing matches ends at the bound, and says where the next one goes on', async () => {
  const { read, slice } = listOf(100);
  expect(await fillPage({ limit: 10 }, { read: slice, pick: none, slicesMax: 3 })).toEqual({ nodes: [], next: '30' });
  expect(read).toHaveLength(3);
});

test('a page ends with the list', async () => {
  const { read, slice } = listOf(15);
  expect(await fillPage({ limit: 10 }, { read: slice, pick: none, slicesMax: 9 })).toEqual({ nodes: [], next: null });
  expect(read).toEqual(['0-10', '10-15']);
});

test('a page ends where too much was read for it', async () => {
  const { read, slice } = listOf(100);
  const isTooMuch = () => read.length === 2;
  expect(await fillPage({ limit: 10 }, { read: slice, pick: none, slicesMax: 9, isTooMuch })).toMatchObject({
    next: '20',
  });
});
