import type { NetworkInterfaceInfo } from 'node:os';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type AddressBlock, parseAddressBlock } from '../../contracts/address-block.ts';
import { createAddressRule } from './address-rule.ts';

const isPublic = createAddressRule([]);

test.each([
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '93.184.215.14',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
  ],
  ...['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.31.196.1'],
  ...[
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '203.0.112.255',
    '203.0.114.0',
    '223.255.255.255',
  ],
  ...['168.63.129.15', '168.63.129.17', '192.88.98.255', '192.88.100.0', '192.175.48.1'],
  ...[
    '2001:200::1',
    '2001:4860:4860::8888',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    '2620:4f:8000::1',
    '3ffe::1',
  ],
  // The addresses in them are public.
  ...['::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1', '2001:0:808:808::f7f7:f7f7'],
])('%s is public', (address) => expect(isPublic(address)).toBeNull());

test.each([
  ...['0.0.0.0', '0.255.255.255', '::'].map((address) => [address, 'an address of this machine']),
  ...['127.0.0.1', '127.0.0.53', '127.255.255.255', '::1'].map((address) => [address, 'a loopback address']),
  ...['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.1', '192.168.255.255'].map((address) => [
    address,
    'a private address',
  ]),
  ...['fc00::1', 'fd00:ec2::254', 'fd20:ce::254', 'fdff:ffff::1', 'fec0::1'].map((address) => [
    address,
    'a private address',
  ]),
  ...['169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::1', 'fe80::1%eth0', 'febf::1'].map((address) => [
    address,
    'a link-local address',
  ]),
  ...['100.64.0.0', '100.100.100.200', '100.127.255.255'].map((address) => [address, 'a shared address of a provider']),
  ['168.63.129.16', 'the address of a cloud service for its machines'],
  ...['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff::1'].map((address) => [
    address,
    'an address for documentation',
  ]),
  ...['198.18.0.1', '198.19.255.255'].map((address) => [address, 'an address for benchmarks']),
  ...['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'].map((address) => [address, 'a multicast address']),
  ['255.255.255.255', 'the broadcast address'],
  ...['192.0.0.1', '192.0.0.192', '192.88.99.1', '240.0.0.1', '255.255.255.254'].map((address) => [
    address,
    'a reserved address',
  ]),
  // Outside of 2000::/3, or kept for protocols.
  ...[
    '::2',
    '::127.0.0.1',
    '100::1',
    '64:ff9b:1::1',
    '64:ff9b:1::7f00:1',
    '::ffff:0:127.0.0.1',
    '1fff::1',
    '4000::1',
    '5f00::1',
    'e000::1',
  ].map((address) => [address, 'a reserved address']),
  ...['2001:2::1', '2001:10::1', '2001:20::1', '2001:1ff::1'].map((address) => [address, 'a reserved address']),
  // IPv4 in IPv6.
  ...[
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:7f00:1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ].map((address) => [address, 'a loopback address']),
  ...['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1'].map((address) => [
    address,
    'a link-local address',
  ]),
  ...['::ffff:10.0.0.1', '64:ff9b::10.0.0.1', '2002:a00:1::1', '2002:c0a8:101::1'].map((address) => [
    address,
    'a private address',
  ]),
  // Teredo: its server, and its client with inverted bits.
  ['2001:0:a00:1::f7f7:f7f7', 'a private address'],
  ['2001:0:808:808::80ff:fffe', 'a loopback address'],
  ...['', 'localhost', '127.1', '0x7f000001'].map((address) => [address, 'not an IP address']),
])('%s is refused: %s', (address, kind) => expect(isPublic(address)).toBe(kind));

test.each([
  [['127.0.0.1'], '127.0.0.1', true],
  [['127.0.0.1'], '127.0.0.2', false],
  [['127.0.0.1'], '::1', false],
  [['127.0.0.1'], '::ffff:127.0.0.1', true],
  [['127.0.0.1'], '64:ff9b::7f00:1', true],
  [['10.0.0.0/8', '192.168.1.20'], '10.200.0.1', true],
  [['10.0.0.0/8', '192.168.1.20'], '192.168.1.20', true],
  [['10.0.0.0/8', '192.168.1.20'], '192.168.1.21', false],
  [['fd00::/8'], 'fd12::1', true],
  [['fd00::/8'], 'fc00::1', false],
  [['0.0.0.0/0'], '169.254.169.254', true],
  [['0.0.0.0/0'], 'fe80::1', false],
])('with %j allowed, %s is: %s', (allowed, address, isAllowed) => {
  const blocks = allowed.map(parseAddressBlock).filter((block): block is AddressBlock => block !== null);
  expect(createAddressRule(blocks)(address) === null).toBe(isAllowed);
});

describe('an address of a network interface', () => {
  afterEach(() => void vi.useRealTimers());
  const interfaceWith = (...addresses: readonly string[]) => ({
    eth0: addresses.map((address) => ({ address }) as NetworkInterfaceInfo),
  });

  test.each([
    '11.22.33.44',
    '2a00:1450::44',
    '2A00:1450:0:0::44',
    '::ffff:11.22.33.44',
    '64:ff9b::b16:212c',
    '2002:b16:212c::1',
  ])('%s is refused, and its neighbours are not', (address) => {
    const rule = createAddressRule([], () => interfaceWith('11.22.33.44', '2a00:1450::44'));
    expect(rule(address)).toBe('an address of this machine');
    expect([rule('11.22.33.45'), rule('2a00:1450::45')]).toEqual([null, null]);
  });

  test('is reached when the operator allows it', () => {
    const allowed = [parseAddressBlock('11.22.33.0/24')].filter((block) => block !== null);
    expect(createAddressRule(allowed, () => interfaceWith('11.22.33.44'))('11.22.33.44')).toBeNull();
  });

  test('counts within a second after it appeared or disappeared, and interfaces are read no more often', () => {
    vi.useFakeTimers();
    let own = '11.22.33.44';
    const read = vi.fn(() => interfaceWith(own));
    const rule = createAddressRule([], read);
    for (let asked = 0; asked < 100; asked++) rule('11.22.33.44');
    expect(read).toHaveBeenCalledOnce();
    own = '55.66.77.88';
    vi.advanceTimersByTime(1001);
    expect([rule('11.22.33.44'), rule('55.66.77.88')]).toEqual([null, 'an address of this machine']);
  });
});
