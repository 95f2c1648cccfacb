import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { giveWay } from './give-way.ts';

const piecesEach = 40;

/**
 * Each worker does pieces of half a millisecond; returns the number of finished pieces in each turn of the event loop.
 */
async function piecesByTurn(workers: number): Promise<readonly number[]> {
  let pieces = 0;
  const work = async () => {
    for (let i = 0; i < piecesEach; i++) {
      await giveWay();
      for (const until = performance.now() + 0.5; performance.now() < until; );
      pieces++;
    }
  };
  const working = Array.from({ length: workers }, work);
  const byTurn: number[] = [];
  while (pieces < workers * piecesEach) {
    const before = pieces;
    await nextTurn();
    byTurn.push(pieces - before);
  }
  await Promise.all(working);
  return byTurn;
}

test('long work lets others use the event loop after a few pieces', async () => {
  const byTurn = await piecesByTurn(1);
  // The counted turn may contain the end of one stretch and all of the next.
  expect(Math.max(...byTurn)).toBeLessThanOrEqual(12);
});

test('many concurrent workers finish few pieces in a turn, and all finish', async () => {
  const byTurn = await piecesByTurn(10);
  expect(Math.max(...byTurn)).toBeLessThanOrEqual(3 * 10);
});

test('short work does not wait for a turn of the event loop', async () => {
  await nextTurn();
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  for (let i = 0; i < 10; i++) await giveWay();
  expect(turned).toBe(false);
});
