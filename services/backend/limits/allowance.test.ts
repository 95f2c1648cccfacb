import { expect, test } from 'vitest';
import { Allowance } from './allowance.ts';

test('an address has its own allowance, and gets a new one after the period', () => {
  const allowance = new Allowance({ what: 'registrations', most: 2, periodMs: 60_000 });
  for (let i = 0; i < 2; i++) allowance.use('192.0.2.1', 0);
  expect(() => allowance.use('192.0.2.1', 59_999)).toThrow('Too many registrations');
  allowance.use('192.0.2.2', 59_999);
  allowance.use('192.0.2.1', 60_000);
});

test('a /48 has the allowance of eight addresses, whichever of its networks asks', () => {
  const allowance = new Allowance({ what: 'registrations', most: 2, periodMs: 60_000 });
  for (let i = 0; i < 16; i++) allowance.use(`2001:db8:1:${i}::/64`, 0);
  expect(() => allowance.use('2001:db8:1:99::/64', 0)).toThrow('Too many registrations');
  allowance.use('2001:db8:2:99::/64', 0);
  // A refused address has used nothing of the /48.
  expect(() => allowance.use('2001:db8:1:99::/64', 59_999)).toThrow('Too many registrations');
  allowance.use('2001:db8:1:99::/64', 60_000);
});

test('an address that is refused uses nothing of its /48', () => {
  const allowance = new Allowance({ what: 'registrations', most: 1, periodMs: 60_000 });
  allowance.use('2001:db8:1:1::/64', 0);
  for (let i = 0; i < 50; i++) expect(() => allowance.use('2001:db8:1:1::/64', 0)).toThrow('Too many');
  allowance.use('2001:db8:1:2::/64', 0);
});
