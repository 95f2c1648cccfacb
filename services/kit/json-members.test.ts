import { describe, expect, test } from 'vitest';
import { depthMax, locateMembers, memberTexts, valuesMax, writeMembers } from './json-members.ts';

describe('members', () => {
  const texts: readonly string[] = [
    '{}',
    ' {\n} ',
    '{"a":1}',
    '{ "a" : 1 , "b" : [ 1 , 2 , { "c" : "}" } ] , "d":null }',
    '{"a":"\\"","b":"\\\\","c":"\\\\\\"]","d":true}',
    '{"quote":"a\\u0022b","empty":"","":{"x":[]},"n":-1.5e+10}',
    '{"deep":[[[[[{"a":[{}]}]]]]],"after":false}',
  ];
  test.each(texts)('of %s equal those of JSON.parse', (text) => {
    const found = memberTexts(text);
    expect(found).not.toBeNull();
    const parsed = Object.fromEntries([...(found ?? [])].map(([name, value]) => [name, JSON.parse(value)]));
    expect(parsed).toEqual(JSON.parse(text));
  });

  test('keep the text of their values', () => {
    expect(memberTexts('{"id": 12345678901234567890.0 ,"x":1}')?.get('id')).toBe('12345678901234567890.0');
  });

  test('of members with equal names the last one counts, also if its name is written with escapes', () => {
    expect([...(memberTexts('{"name":"a","n\\u0061me":"b"}') ?? [])]).toEqual([['name', '"b"']]);
  });

  test('of random objects survive being located and written', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const value = randomObject(seed);
      const text = JSON.stringify(value, null, seed % 3);
      expect(JSON.parse(writeMembers(memberTexts(text) ?? []))).toEqual(value);
    }
  });
});

test('a text that is not an object is malformed, wherever it is cut', () => {
  const whole = '{"a":"x\\"y","b":[1,{"c":null}],"d":-1}';
  for (let end = 0; end < whole.length; end++) expect(locateMembers(whole.slice(0, end))).toBe('malformed');
  for (const text of ['[]', '"a"', '1', '{"a"}', '{"a":}', '{"a":1 "b":2}', '{a:1}', '{,}', '{"a":1,}']) {
    expect(locateMembers(text)).toBe('malformed');
  }
});

test('a value nested too deep is refused, and one just within the limit is not', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  expect(locateMembers(nested(depthMax - 1))).toMatchObject({ members: { length: 1 } });
  expect(locateMembers(nested(depthMax))).toBe('too_deep');
  expect(locateMembers(`{"a":${'['.repeat(4_000_000)}`)).toBe('too_deep');
});

/** Small numbers from a seed: the same every time. */
function randomObject(seed: number): Record<string, unknown> {
  let state = seed;
  const next = (limit: number) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * limit);
  };
  const strings = ['', 'a', '"', '\\', '\\"', '}{][', ',:', 'ü\u2028', '\n\t', '\\u0041', '😀'];
  const value = (depth: number): unknown => {
    switch (next(depth > 3 ? 4 : 6)) {
      case 0:
        return strings[next(strings.length)];
      case 1:
        return next(1000) - 500;
      case 2:
        return null;
      case 3:
        return next(2) === 0;
      case 4:
        return Array.from({ length: next(4) }, () => value(depth + 1));
      default:
        return object(depth + 1);
    }
  };
  const object = (depth: number): Record<string, unknown> =>
    Object.fromEntries(
      Array.from({ length: next(5) }, (_, i) => [`${strings[next(strings.length)]}${i}`, value(depth)]),
    );
  return object(0);
}

test.each([
  ['objects', (count: number) => `{"a":[${'{},'.repeat(count)}0]}`],
  ['numbers', (count: number) => `{"a":[${'1,'.repeat(count)}1]}`],
  ['lists', (count: number) => `{"a":[${'[],'.repeat(count)}1]}`],
  ['members', (count: number) => `{"a":{${'"b":1,'.repeat(count)}"c":1}}`],
  ['members of the message', (count: number) => `{${'"b":1,'.repeat(count)}"c":1}`],
])('too many %s are detected without parsing', (_, write) => {
  expect(locateMembers(write(valuesMax + 1))).toBe('too_many');
  expect(locateMembers(write(valuesMax / 2 - 10))).toMatchObject({ values: expect.any(Number) });
});

test('values are counted, and look-alikes inside a text are not', () => {
  expect(locateMembers('{"a":[{},{"b":"[,,,]"},3],"c":"{}"}')).toMatchObject({ values: 8 });
});
