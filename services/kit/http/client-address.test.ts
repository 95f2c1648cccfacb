import { describe, expect, test } from 'vitest';
import { type AddressBlock, parseAddressBlock } from '../../contracts/address-block.ts';
import { clientAddress } from './client-address.ts';

const blocks = (...texts: string[]) => texts.map((text) => parseAddressBlock(text) as AddressBlock);
const trusted = blocks('127.0.0.1', '10.0.0.0/8', 'fd00::/8');

function addressOf(remoteAddress: string | undefined, forwarded?: string, proxies = trusted): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddress(
    { socket: remoteAddress === undefined ? {} : { remoteAddress }, headers },
    { trustedProxies: proxies },
  );
}

describe('the address of a client', () => {
  test.each([
    ['its own without a proxy', '192.0.2.1', undefined, '192.0.2.1'],
    ['named by a trusted proxy', '127.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['of IPv6', '127.0.0.1', '2001:db8::1', '2001:db8::1'],
    ['of IPv6 in any form', '127.0.0.1', '2001:0DB8:0::0001', '2001:db8::1'],
    ['behind two trusted proxies', '127.0.0.1', '192.0.2.1, 10.1.2.3', '192.0.2.1'],
    ['behind a trusted proxy of IPv6', 'fd00::7', '192.0.2.1', '192.0.2.1'],
    ['of a socket of IPv6', '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['behind a proxy on a socket of IPv6', '::ffff:127.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['mapped by a proxy', '127.0.0.1', '::ffff:192.0.2.1', '192.0.2.1'],
    ['mapped in hexadecimal', '127.0.0.1', '::ffff:c000:201', '192.0.2.1'],
    ['with a port', '127.0.0.1', '192.0.2.1:4711', '192.0.2.1'],
    ['of IPv6 with a port', '127.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['of IPv6 in brackets', '127.0.0.1', '[2001:db8::1]', '2001:db8::1'],
    ['with a zone', 'fe80::1%eth0', undefined, 'fe80::1'],
    ['of a client on the proxy itself', '127.0.0.1', '10.1.2.3', '10.1.2.3'],
    ['of the proxy that named no client', '127.0.0.1', undefined, '127.0.0.1'],
  ])('is %s', (_what, remote, forwarded, expected) => {
    expect(addressOf(remote, forwarded)).toBe(expected);
  });

  test.each([
    ['by a client without a proxy', '192.0.2.9', '198.51.100.1', '192.0.2.9'],
    ['by a client that names a trusted proxy', '192.0.2.9', '198.51.100.1, 10.0.0.1', '192.0.2.9'],
    ['before the address that the proxy adds', '127.0.0.1', '198.51.100.1, 192.0.2.9', '192.0.2.9'],
    ['before it, with trusted addresses', '127.0.0.1', '10.0.0.1, 127.0.0.1, 192.0.2.9', '192.0.2.9'],
    ['as a text, which ends the list', '127.0.0.1', '198.51.100.1, unknown', '127.0.0.1'],
    ['as nothing', '127.0.0.1', '198.51.100.1,', '127.0.0.1'],
    ['as another text', '127.0.0.1', '198.51.100.1, 1.2.3.4.5, 10.0.0.1', '10.0.0.1'],
    ['as a number', '127.0.0.1', '3221225985', '127.0.0.1'],
    ['as a block', '127.0.0.1', '0.0.0.0/0', '127.0.0.1'],
  ])('is not forged %s', (_what, remote, forwarded, expected) => {
    expect(addressOf(remote, forwarded)).toBe(expected);
  });

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['198.51.100.1, 192.0.2.1', '192.0.2.1'],
    ['198.51.100.1, 10.0.0.7', '198.51.100.1'],
    [undefined, '172.18.0.2'],
  ])('is the one that the own proxy names, whatever the address of that proxy: %s', (forwarded, expected) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const request = { socket: { remoteAddress: '172.18.0.2' }, headers };
    expect(clientAddress(request, { trustedProxies: trusted, isFromFront: true })).toBe(expected);
  });

  test("is nobody else's without trusted proxies", () => {
    expect(addressOf('127.0.0.1', '192.0.2.1', [])).toBe('127.0.0.1');
  });

  test('of a closed socket is unknown', () => {
    expect(addressOf(undefined, '192.0.2.1')).toBe('unknown');
  });

  test('is searched in a bounded list', () => {
    expect(addressOf('127.0.0.1', `192.0.2.1${', 10.0.0.1'.repeat(1000)}`)).toBe('10.0.0.1');
  });
});
