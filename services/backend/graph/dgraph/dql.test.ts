import { expect, it } from 'vitest';
import { Dql, uidList } from './dql.ts';

it('values are variables and never part of the text', () => {
  const dql = new Dql();
  const values = ['") { uid } }', '$v0', 'a"b\\', '\u0000', 'uid(0x1)'];
  const text = dql.text(
    `q(func: eq(role.id, ${dql.list(values)})) { uid }`,
    `n(func: eq(role.id, ${dql.value('x"')})) { uid }`,
  );
  expect(text).toBe(
    'query q($v0: string, $v1: string, $v2: string, $v3: string, $v4: string, $v5: string) {\nq(func: eq(role.id, [$v0, $v1, $v2, $v3, $v4])) { uid }\nn(func: eq(role.id, $v5)) { uid }\n}',
  );
  expect([...dql.variables.values()]).toEqual([...values, 'x"']);
});

it('only uids of Dgraph are part of the text', () => {
  expect(uidList(['0x1', '0xffffffffffffffff'])).toBe('0x1, 0xffffffffffffffff');
  for (const wrong of ['', '1', '0x', '0xg', '0x1)', '0x1, 0x2', '0x11111111111111111']) {
    expect(() => uidList([wrong])).toThrow('no uid');
  }
});
