import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { expect, test } from 'vitest';
import { createAddressRule } from './address-rule.ts';
import { createAllowedLookup } from './allowed-lookup.ts';

const isPublic = createAddressRule([], () => ({}));

function ask(lookup: LookupFunction, all: boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    lookup('name.example', { all }, (error, ...found) => (error === null ? resolve(found) : reject(error)));
  });
}

test('concurrent connections share one query, and a later one asks again', async () => {
  const answers: PromiseWithResolvers<LookupAddress[]>[] = [];
  const lookup = createAllowedLookup(isPublic, () => {
    const answer = Promise.withResolvers<LookupAddress[]>();
    answers.push(answer);
    return answer.promise;
  });
  const many = Array.from({ length: 100 }, (_, at) => ask(lookup, at % 2 === 0));
  expect(answers).toHaveLength(1);
  answers[0]?.resolve([{ address: '8.8.8.8', family: 4 }]);
  expect((await Promise.all(many)).slice(0, 2)).toEqual([[[{ address: '8.8.8.8', family: 4 }]], ['8.8.8.8', 4]]);
  const later = ask(lookup, true);
  expect(answers).toHaveLength(2);
  answers[1]?.reject(new Error('no answer'));
  await expect(later).rejects.toMatchObject({ what: 'name.example, which has no public address' });
});

test('of thousands of addresses only the first are checked', async () => {
  let judged = 0;
  const refusing = () => {
    judged++;
    return 'a private address';
  };
  const lookup = createAllowedLookup(refusing, async () => Array(4000).fill({ address: '10.0.0.1', family: 4 }));
  await expect(ask(lookup, true)).rejects.toThrow('name.example has no allowed address');
  expect(judged).toBeLessThan(50);
});
