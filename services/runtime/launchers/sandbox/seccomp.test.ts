import { describe, expect, test } from 'vitest';
import { seccompFilter } from './seccomp.ts';

interface Call {
  readonly number: number;
  readonly audit: number;
  readonly args?: readonly number[];
}

/** Runs a filter as the kernel does (bpf(4), seccomp(2)): only existing instructions, and no jump out of it. */
function run(filter: Buffer, { number, audit, args = [] }: Call): string {
  const words = new Map([[0, number], [4, audit], ...args.map((value, index) => [16 + 8 * index, value] as const)]);
  let loaded = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const [code, value] = [filter.readUInt16LE(8 * at), filter.readUInt32LE(8 * at + 4)];
    const [yes, no] = [filter.readUInt8(8 * at + 2), filter.readUInt8(8 * at + 3)];
    if (code === 0x20) loaded = words.get(value) ?? 0;
    else if (code === 0x15) at += loaded === value ? yes : no;
    else if (code === 0x35) at += loaded >= value ? yes : no;
    else if (code === 0x06)
      return value === 0x7fff0000 ? 'allowed' : value >= 0x80000000 ? 'killed' : `errno ${value & 0xffff}`;
    else throw new Error(`unknown code ${code}`);
  }
  throw new Error('the filter has no end');
}

describe.each([
  { arch: 'x64', audit: 0xc000003e, socket: 41, ioctl: 16, keyctl: 250, socketpair: 53, read: 0 },
  { arch: 'arm64', audit: 0xc00000b7, socket: 198, ioctl: 29, keyctl: 219, socketpair: 199, read: 63 },
])('on $arch', ({ arch, audit, socket, ioctl, keyctl, socketpair, read }) => {
  const filter = seccompFilter(arch) ?? Buffer.alloc(0);
  const result = (number: number, ...args: number[]) => run(filter, { number, audit, args });

  test.each([
    ['IPv4', 2],
    ['IPv6', 10],
    ['routes', 16],
  ])('sockets of %s are allowed', (_name, family) => {
    expect(result(socket, family, 1, 0)).toBe('allowed');
  });

  test.each([
    ['Unix', 1],
    ['packets', 17],
    ['the crypto of the kernel', 38],
    ['the host of a virtual machine', 40],
  ])('sockets of %s are refused as unknown', (_name, family) => {
    expect(result(socket, family, 1, 0)).toBe('errno 97');
  });

  test('pairs of sockets, and all other calls, are allowed', () => {
    expect([result(socketpair, 1, 1, 0), result(read, 0), result(ioctl, 0, 0x5413)]).toEqual(Array(3).fill('allowed'));
  });

  test('typing into a terminal, key rings and io_uring are refused', () => {
    expect([result(ioctl, 0, 0x5412), result(ioctl, 0, 0x541c), result(keyctl, 0), result(425, 1)]).toEqual(
      Array(4).fill('errno 1'),
    );
  });

  test('calls of another architecture do not pass under its other numbers', () => {
    expect(run(filter, { number: 359, audit: 0x40000003, args: [1] })).toBe('killed');
    expect(result(0x40000000 + socket, 1)).toBe('errno 1');
  });
});

test('an architecture with unknown numbers has no filter', () => {
  expect(seccompFilter('s390x')).toBeNull();
});
