import { expect, test } from 'vitest';
import { areaOf, places } from './places.ts';

test('no two places have the same key, title or path', () => {
  for (const values of [places.map(({ key }) => key), places.map(({ title }) => title), places.map(({ to }) => to)]) {
    const named = values.filter((value) => value !== null);
    expect(named).toHaveLength(new Set(named).size);
  }
});

test('a phone has at most four places in its bar, next to the menu of the others', () => {
  expect(places.filter((place) => 'inBar' in place).length).toBeLessThanOrEqual(4);
});

test('a place lies below the path of its area', () => {
  const areas = places.map(({ to, area }) => [areaOf(to), area]);
  const expected = places.map(({ area }) => [area === 'settings' || area === 'profile' ? area : null, area]);
  expect(areas).toEqual(expected);
});
