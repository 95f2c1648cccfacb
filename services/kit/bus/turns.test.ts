import { describe, expect, it } from 'vitest';
import { Turns } from './turns.ts';

describe('turns', () => {
  it('run after the caller that scheduled them, in order', async () => {
    const turns = new Turns();
    const order: string[] = [];
    const done = Promise.withResolvers<void>();
    for (let i = 0; i < 2000; i++) turns.later({ run: () => order.push(String(i)) });
    turns.later({ run: done.resolve });
    order.push('asked');
    await done.promise;
    expect(order).toEqual(['asked', ...Array.from({ length: 2000 }, (_, i) => String(i))]);
  });

  it('that schedule further turns run after the waiting ones', async () => {
    const turns = new Turns();
    const order: string[] = [];
    const done = Promise.withResolvers<void>();
    const first = () => {
      order.push('first');
      turns.later({ run: () => order.push('third') });
      turns.later({ run: done.resolve });
    };
    turns.later({ run: first });
    turns.later({ run: () => order.push('second') });
    await done.promise;
    expect(order).toEqual(['first', 'second', 'third']);
  });

  it.each([
    ['in one go', (turns: Turns, again: () => void) => turns.later({ run: again })],
    [
      'by way of a promise',
      (turns: Turns, again: () => void) => turns.later({ run: () => void Promise.resolve().then(again) }),
    ],
  ])('that never end, %s, do not block the event loop', async (_, ask) => {
    const turns = new Turns();
    const limit = 5_000_000;
    let count = 0;
    let timerFired = false;
    const done = Promise.withResolvers<void>();
    const again = () => {
      if (timerFired || ++count > limit) done.resolve();
      else ask(turns, again);
    };
    setTimeout(() => {
      timerFired = true;
    }, 1);
    again();
    await done.promise;
    expect(timerFired).toBe(true);
    expect(count).toBeLessThan(limit);
  });
});
