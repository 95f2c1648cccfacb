import { describe, expect, test } from 'vitest';
import { isInBlock, parseAddress, parseAddressBlock } from './address-block.ts';

const zeros = (count: number) => new Array<number>(count).fill(0);

test.each<[string, readonly number[] | null]>([
  ['127.0.0.1', [127, 0, 0, 1]],
  ['::', zeros(16)],
  ['::1', [...zeros(15), 1]],
  ['1::', [0, 1, ...zeros(14)]],
  ['2001:db8::8:800:200c:417a', [0x20, 0x01, 0x0d, 0xb8, ...zeros(4), 0, 8, 8, 0, 0x20, 0x0c, 0x41, 0x7a]],
  ['1:2:3:4:5:6:7:8', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
  ['::ffff:10.1.2.3', [...zeros(10), 255, 255, 10, 1, 2, 3]],
  ['64:ff9b::192.0.2.33', [0, 0x64, 0xff, 0x9b, ...zeros(8), 192, 0, 2, 33]],
  ['fe80::1%eth0', [0xfe, 0x80, ...zeros(13), 1]],
  ['127.1', null],
  ['0x7f000001', null],
  ['localhost', null],
  ['[::1]', null],
  ['', null],
  ['1::2::3', null],
])('the address "%s"', (text, bytes) => expect(parseAddress(text)).toEqual(bytes));

describe('a block', () => {
  test.each(['10.0.0.0/8', '10.0.0.1', '10.0.0.1/32', '0.0.0.0/0', 'fd00::/8', '::/0', '::1', '172.16.0.0/12'])(
    '%s is one',
    (text) => expect(parseAddressBlock(text)).not.toBeNull(),
  );

  test.each([
    ...['10.0.0.1/8', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', 'fd00::1/8', '::/129', '10.0.0/8'],
    ...['intranet.example', '10.0.0.1:80', '[::1]', 'http://10.0.0.1', '*', '', ' 10.0.0.1', 'fe80::1%eth0'],
  ])('"%s" is not one', (text) => expect(parseAddressBlock(text)).toBeNull());

  test.each([
    ['172.16.0.0/12', '172.31.255.255', true],
    ['172.16.0.0/12', '172.32.0.0', false],
    ['172.16.0.0/12', '172.15.255.255', false],
    ['0.0.0.0/0', '8.8.8.8', true],
    ['0.0.0.0/0', '::1', false],
    ['fc00::/7', 'fdff::1', true],
    ['fc00::/7', 'fe00::1', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
  ])('%s contains %s: %s', (block, address, isHeld) => {
    const [parsed, bytes] = [parseAddressBlock(block), parseAddress(address)];
    expect(parsed !== null && bytes !== null && isInBlock(bytes, parsed)).toBe(isHeld);
  });
});
