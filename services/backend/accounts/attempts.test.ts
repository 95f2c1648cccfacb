import { expect, test } from 'vitest';
import { Attempts } from './attempts.ts';

const minuteMs = 60_000;

function open() {
  let now = 1_000_000;
  const attempts = new Attempts(() => now);
  return {
    attempts,
    pass: (ms: number) => {
      now += ms;
    },
    fail: (account: string, network: string, times = 1) => {
      for (let i = 0; i < times; i++) attempts.begin({ what: 'password', account, network });
    },
    refusal(account: string, network: string): { message: string; headers: readonly string[]; status: number } | null {
      try {
        attempts.begin({ what: 'password', account, network }).withdraw();
        return null;
      } catch (thrown) {
        return thrown as ReturnType<ReturnType<typeof open>['refusal']>;
      }
    },
  };
}

test('ten failures of an account from one network, and the refusal says when to try again', () => {
  const { fail, refusal, pass } = open();
  fail('ann', '192.0.2.1', 4);
  pass(5 * minuteMs);
  fail('ann', '192.0.2.1', 5);
  expect(refusal('ann', '192.0.2.1')).toBe(null);
  fail('ann', '192.0.2.1');
  expect(refusal('ann', '192.0.2.1')).toMatchObject({
    ...{ code: 'rate_limited', status: 429, headers: ['retry-after', '600'] },
    message: 'Too many sign-ins have failed. Try again in 10 minutes.',
  });
  pass(10 * minuteMs - 1);
  expect(refusal('ann', '192.0.2.1')).toMatchObject({ headers: ['retry-after', '1'] });
  pass(1);
  expect(refusal('ann', '192.0.2.1')).toBe(null);
  // The period slides: only the first four failures are older.
  fail('ann', '192.0.2.1', 4);
  expect(refusal('ann', '192.0.2.1')).not.toBe(null);
});

test('do not lock the person out elsewhere, nor others there', () => {
  const { fail, refusal } = open();
  fail('ann', '192.0.2.1', 10);
  expect(refusal('ann', '192.0.2.2')).toBe(null);
  expect(refusal('bob', '192.0.2.1')).toBe(null);
});

test('a hundred of an account in an hour, from anywhere', () => {
  const { fail, refusal, pass } = open();
  for (let i = 0; i < 100; i++) fail('ann', `192.0.2.${i}`);
  expect(refusal('ann', '198.51.100.1')).toMatchObject({ headers: ['retry-after', '3600'] });
  expect(refusal('bob', '198.51.100.1')).toBe(null);
  pass(60 * minuteMs);
  expect(refusal('ann', '198.51.100.1')).toBe(null);
});

test('a hundred of a network, for any account', () => {
  const { fail, refusal, pass } = open();
  for (let i = 0; i < 100; i++) fail(`person ${i}`, '192.0.2.1');
  expect(refusal('ann', '192.0.2.1')).toMatchObject({ headers: ['retry-after', '900'] });
  expect(refusal('ann', '192.0.2.2')).toBe(null);
  pass(15 * minuteMs);
  expect(refusal('ann', '192.0.2.1')).toBe(null);
});

test('eight hundred of a /48, from any of its networks, and none of another', () => {
  const { fail, refusal, pass } = open();
  for (let i = 0; i < 800; i++) fail(`person ${i}`, `2001:db8:1:${i.toString(16)}::/64`);
  expect(refusal('ann', '2001:db8:1:ffff::/64')).toMatchObject({ headers: ['retry-after', '900'] });
  expect(refusal('ann', '2001:db8:2:ffff::/64')).toBe(null);
  pass(15 * minuteMs);
  expect(refusal('ann', '2001:db8:1:ffff::/64')).toBe(null);
});

test('attempts at the same moment are limited too', () => {
  const { attempts } = open();
  const running = Array.from({ length: 10 }, () => attempts.begin({ what: 'password', account: 'ann', network: 'n' }));
  expect(() => attempts.begin({ what: 'password', account: 'ann', network: 'n' })).toThrow('Too many');
  running[0]?.withdraw();
  expect(() => attempts.begin({ what: 'password', account: 'ann', network: 'n' })).not.toThrow();
});

test('a success forgets the failures of the person from there, and no others', () => {
  const { attempts, fail, refusal } = open();
  fail('ann', 'n', 9);
  attempts.begin({ what: 'password', account: 'ann', network: 'n' }).succeed();
  fail('ann', 'n', 9);
  expect(refusal('ann', 'n')).toBe(null);
  // 18 of the network's hundred have failed, although the person succeeded between.
  for (let i = 0; i < 82; i++) fail(`person ${i}`, 'n');
  expect(refusal('bob', 'n')).not.toBe(null);
});

test('a flood of asked links leaves passwords of the network open', () => {
  const { attempts, refusal } = open();
  for (let i = 0; i < 100; i++) attempts.begin({ what: 'link', account: `person ${i}`, network: 'n' });
  expect(() => attempts.begin({ what: 'link', account: 'ann', network: 'n' })).toThrow('Too many');
  expect(refusal('ann', 'n')).toBe(null);
});

test('many other failures do not push out recent ones', () => {
  const { fail, refusal } = open();
  for (let i = 0; i < 70_000; i++) fail(`person ${i}`, `network ${i}`);
  fail('ann', 'n', 10);
  expect(refusal('ann', 'n')).not.toBe(null);
});
