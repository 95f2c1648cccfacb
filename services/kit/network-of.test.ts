import { expect, it } from 'vitest';
import { networkOf, siteOf } from './network-of.ts';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2::7', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::7', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('%s belongs to %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it.each([
  ['192.0.2.7', null],
  ['2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8:0:0::/64', '2001:db8:0::/48'],
])('%s lies in %s', (network, site) => {
  expect(siteOf(network)).toBe(site);
});
