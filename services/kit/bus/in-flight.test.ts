import { expect, test } from 'vitest';
import { keptBytes } from '../test/kept-bytes.ts';
import { type Deadlined, InFlight } from './in-flight.ts';

class Item implements Deadlined {
  readonly content = new Array<number>(32).fill(1);
  deadline = Number.POSITIVE_INFINITY;
  place = -1;
  timedOut = 0;

  timeOut(): void {
    this.timedOut++;
  }
}

test('keeps the other items when one is done, in whichever order', () => {
  const inFlight = new InFlight<Item>();
  const items = Array.from({ length: 5 }, () => new Item());
  for (const item of items) inFlight.begin(item);
  const present = () => inFlight.which(() => true);
  for (const at of [1, 3, 0, 0]) {
    const [done] = items.splice(at, 1);
    if (done === undefined) throw new Error('There is no such item.');
    inFlight.done(done);
    inFlight.done(done);
    expect(new Set(present())).toEqual(new Set(items));
  }
  for (const item of present()) inFlight.done(item);
});

test('times out each overdue item once, and none that another one ended', async () => {
  const inFlight = new InFlight<Item>();
  const [first, second, later] = [new Item(), new Item(), new Item()];
  first.deadline = second.deadline = 0;
  first.timeOut = () => {
    first.timedOut++;
    inFlight.done(first);
    inFlight.done(second);
  };
  for (const item of [first, second, later]) inFlight.begin(item);
  await expect.poll(() => first.timedOut).toBe(1);
  expect([second.timedOut, later.timedOut]).toEqual([0, 0]);
  expect(inFlight.which(() => true)).toEqual([later]);
  inFlight.done(later);
});

test('leaves no item in memory that is done', () => {
  const inFlight = new InFlight<Item>();
  const underWay: Item[] = [];
  const kept = keptBytes(() => {
    const item = new Item();
    inFlight.begin(item);
    const [oldest] = underWay.push(item) > 8 ? underWay.splice(0, 1) : [];
    if (oldest !== undefined) inFlight.done(oldest);
  });
  for (const item of underWay) inFlight.done(item);
  expect(kept).toBeLessThan(2_000_000);
});
