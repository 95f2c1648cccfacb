import { expect, test } from 'vitest';
import { AddressAllowance } from './address-allowance.ts';

test('an address has its own allowance, and gets a new one after the period', () => {
  const allowance = new AddressAllowance({ what: 'registrations', most: 2, periodMs: 60_000 });
  for (let i = 0; i < 2; i++) allowance.use('192.0.2.1', 0);
  expect(() => allowance.use('192.0.2.1', 59_999)).toThrow('Too many registrations');
  allowance.use('192.0.2.2', 59_999);
  allowance.use('192.0.2.1', 60_000);
});
