/**
 * A block of IP addresses in the notation of RFC 4632 §3.1 and RFC 4291 §2.3; a single address is a block of its full
 * length.
 */
export interface AddressBlock {
  readonly bytes: AddressBytes;
  readonly prefix: number;
}

/** The 4 bytes of an IPv4 address or the 16 of an IPv6 address. */
export type AddressBytes = readonly number[];

/** Null when the text is not an address or block, or a block with bits beyond its prefix, which is usually a mistake. */
export function parseAddressBlock(text: string): AddressBlock | null {
  const [, address = '', length] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bytes = parseAddress(address);
  if (bytes === null) return null;
  const prefix = length === undefined ? 8 * bytes.length : Number(length);
  const isWhole = prefix <= 8 * bytes.length && bytes.every((byte, at) => (byte & ~maskAt(at, prefix)) === 0);
  return isWhole ? { bytes, prefix } : null;
}

/**
 * Null when the text is not an address. A zone (RFC 4007 §11) names the interface that reaches an address, and is no
 * part of it.
 */
export function parseAddress(text: string): AddressBytes | null {
  const [address = ''] = text.split('%', 1);
  return address.includes(':') ? parseIpv6(address) : parseIpv4(address);
}

/** Four decimal numbers, as resolvers and URLs write them (RFC 3986 §3.2.2). */
function parseIpv4(address: string): AddressBytes | null {
  const parts = address.split('.');
  const isAddress = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
  return isAddress ? parts.map(Number) : null;
}

/** URLs write IPv6 addresses in their shortest form (RFC 5952), without a dotted notation of the last 32 bits. */
function parseIpv6(address: string): AddressBytes | null {
  if (!/^[0-9a-fA-F:.]+$/.test(address) || !URL.canParse(`http://[${address}]`)) return null;
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = shortest.split('::').map(bytesOfGroups);
  return [...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

function bytesOfGroups(groups: string): number[] {
  if (groups === '') return [];
  return groups.split(':').flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

export function isInBlock(address: AddressBytes, { bytes, prefix }: AddressBlock): boolean {
  return (
    address.length === bytes.length && address.every((byte, at) => (byte & maskAt(at, prefix)) === (bytes[at] ?? 0))
  );
}

/** The bits of this byte that belong to the prefix. */
function maskAt(at: number, prefix: number): number {
  const bits = Math.min(8, Math.max(0, prefix - 8 * at));
  return (0xff << (8 - bits)) & 0xff;
}
