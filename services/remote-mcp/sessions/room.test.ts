import { expect, test } from 'vitest';
import { newId } from '../../contracts/ids.ts';
import { Room } from './room.ts';

test('a key that has as many as it may has room again where one leaves, and for what it opened elsewhere', () => {
  const room = new Room({ what: 'doors', max: 3, perKeyMax: 1, hint: 'Close one.' });
  const [key, other] = [newId('key'), newId('key')];
  room.take(key);
  expect(() => room.check(key)).toThrow('This key has too many open doors.');
  room.checkAll();
  room.check(other);
  room.take(key);
  room.take(other);
  for (const full of [() => room.check(newId('key')), () => room.checkAll()]) {
    expect(full).toThrow('Too many doors are open.');
  }
  room.leave(key);
  room.leave(key);
  room.check(key);
});
