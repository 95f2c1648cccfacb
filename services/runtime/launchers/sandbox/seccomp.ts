/**
 * A filter of system calls (seccomp(2)) for what namespaces do not separate while the network is shared:
 * - sockets of other families than the network's: abstract Unix sockets of the machine are in its network namespace.
 *   Pairs stay.
 * - io_uring, which would open sockets past this filter; key rings, which are inherited; typing into a terminal.
 */
export function seccompFilter(arch: string): Buffer | null {
  const machine = machines[arch];
  return machine === undefined ? null : assemble(programFor(machine));
}

interface Machine {
  /** AUDIT_ARCH_* of linux/audit.h. */
  readonly audit: number;
  readonly calls: { readonly socket: number; readonly ioctl: number; readonly refused: readonly number[] };
}

/** Numbers of the calls: `refused` are add_key, request_key, keyctl and io_uring_setup. */
const machines: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, calls: { socket: 41, ioctl: 16, refused: [248, 249, 250, 425] } },
  arm64: { audit: 0xc00000b7, calls: { socket: 198, ioctl: 29, refused: [217, 218, 219, 425] } },
};

/** AF_INET, AF_INET6, AF_NETLINK: the last lists addresses and routes. */
const families = [2, 10, 16];
/** TIOCSTI, TIOCLINUX. */
const typing = [0x5412, 0x541c];
/** The x32 calls of x64 have this bit set. */
const x32 = 0x40000000;

/** Offsets in struct seccomp_data; of arguments the lower half, which is all that the kernel reads of these. */
const offset = { call: 0, audit: 4, first: 16, second: 24 } as const;
/** EPERM, EAFNOSUPPORT. */
const errno = { notPermitted: 1, noSuchFamily: 97 } as const;

type Label = 'native' | 'socket' | 'ioctl' | 'allow' | 'refuse';
/** Jumps go forward only. */
type FilterInstruction =
  | { readonly load: number }
  | { readonly jump: 'equal' | 'atLeast'; readonly value: number; readonly to: Label }
  | { readonly end: number }
  | { readonly label: Label };

const ends = { kill: 0x80000000, refuse: 0x00050000, allow: 0x7fff0000 } as const;

function programFor({ audit, calls }: Machine): readonly FilterInstruction[] {
  const goTo =
    (to: Label) =>
    (value: number): FilterInstruction => ({ jump: 'equal', value, to });
  return [
    { load: offset.audit },
    goTo('native')(audit),
    // Programs of another architecture use other numbers for the same calls.
    { end: ends.kill },
    { label: 'native' },
    { load: offset.call },
    { jump: 'atLeast', value: x32, to: 'refuse' },
    goTo('socket')(calls.socket),
    goTo('ioctl')(calls.ioctl),
    ...calls.refused.map(goTo('refuse')),
    { end: ends.allow },
    { label: 'socket' },
    { load: offset.first },
    ...families.map(goTo('allow')),
    { end: ends.refuse + errno.noSuchFamily },
    { label: 'ioctl' },
    { load: offset.second },
    ...typing.map(goTo('refuse')),
    { label: 'allow' },
    { end: ends.allow },
    { label: 'refuse' },
    { end: ends.refuse + errno.notPermitted },
  ];
}

/** Codes of linux/bpf_common.h: load a word, jump if equal, jump if greater or equal, return. */
const codes = { load: 0x20, equal: 0x15, atLeast: 0x35, end: 0x06 } as const;

/** As struct sock_filter of linux/filter.h, one after the other. */
function assemble(program: readonly FilterInstruction[]): Buffer {
  const steps = program.flatMap((step) => ('label' in step ? [] : [step]));
  const places = new Map<Label, number>();
  let place = 0;
  for (const step of program) {
    if ('label' in step) places.set(step.label, place);
    else place++;
  }
  return Buffer.concat(
    steps.map((step, at) => {
      if ('load' in step) return instruction(codes.load, 0, step.load);
      if ('end' in step) return instruction(codes.end, 0, step.end);
      return instruction(codes[step.jump], (places.get(step.to) ?? 0) - at - 1, step.value);
    }),
  );
}

function instruction(code: number, skipIfTrue: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(skipIfTrue, 2);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
