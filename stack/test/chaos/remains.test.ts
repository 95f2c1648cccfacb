import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Holding, leaks, planted } from './remains.ts';

const gigabyte = 1024 ** 3;

const platforms: Readonly<Record<string, Holding>> = {
  small: { processes: 1, descriptors: 60, memoryBytes: 0.2 * gigabyte, connections: 0, subscriptions: 20 },
  large: { processes: 40, descriptors: 8000, memoryBytes: 6 * gigabyte, connections: 60, subscriptions: 9000 },
};

test.each(Object.entries(platforms))('a %s platform with unchanged counts has no leaks', (_, holding) => {
  expect(leaks(holding, holding)).toEqual([]);
});

test.each(Object.entries(platforms))('everything that is planted is noticed in a %s platform', (_, before) => {
  const after = { ...before };
  for (const kind of Object.keys(planted) as (keyof Holding)[]) after[kind] += planted[kind];
  expect(leaks(before, after).map((leak) => leak.split(':')[0])).toEqual(Object.keys(before));
});

test('NATS allows a connection as many subscriptions as are planted on one', () => {
  const text = readFileSync(new URL('../../../templates/nats.conf', import.meta.url), 'utf8');
  const allowed = Number(/^max_subscriptions: (\d+)$/m.exec(text)?.[1]);
  expect(planted.subscriptions / planted.connections).toBeLessThanOrEqual(allowed);
});
