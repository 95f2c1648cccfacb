import { networkInterfaces } from 'node:os';
import {
  type AddressBlock,
  type AddressBytes,
  isInBlock,
  parseAddress,
  parseAddressBlock,
} from '../../contracts/address-block.ts';

/** The kind of an address that may not be connected to, in words that follow "is"; null when it may. */
export type AddressRule = (address: string) => string | null;

/**
 * URLs of members reach public addresses and the blocks that the operator allowed. A public address of this machine is
 * refused, because a firewall may hide its services from other hosts but not from here.
 */
export function createAddressRule(allowed: readonly AddressBlock[], interfaces = networkInterfaces): AddressRule {
  const isOwn = createOwnAddresses(interfaces);
  const judge = (address: AddressBytes): string | null => {
    if (allowed.some((block) => isInBlock(address, block))) return null;
    const carried = carriedIn(address);
    const kind = carried.length === 0 ? kindOf(address) : carried.map(judge).find((one) => one !== null);
    return kind ?? (isOwn(address) ? thisMachine : null);
  };
  return (text) => {
    const address = parseAddress(text);
    return address === null ? 'not an IP address' : judge(address);
  };
}

/** Reading them takes up to a millisecond: connections within a second share one reading. */
const ownMaxAgeMs = 1000;

/** Whether an address belongs to a network interface; interfaces come and go. */
function createOwnAddresses(interfaces: typeof networkInterfaces): (address: AddressBytes) => boolean {
  let own = new Set<string>();
  let readAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    if (performance.now() - readAt > ownMaxAgeMs) {
      const found = Object.values(interfaces()).flatMap((addresses = []) => addresses);
      own = new Set(found.map((one) => keyOf(parseAddress(one.address) ?? [])));
      readAt = performance.now();
    }
    return own.has(keyOf(address));
  };
}

function keyOf(address: AddressBytes): string {
  return address.join('.');
}

/** Null for a public address. */
function kindOf(address: AddressBytes): string | null {
  const special = specialBlocks.find(({ block }) => isInBlock(address, block));
  if (special !== undefined) return special.kind;
  // IANA assigns IPv6 addresses for use between networks from this block only (RFC 4291 §2.4, RFC 3587).
  return address.length === 4 || isInBlock(address, globalUnicast) ? null : reserved;
}

/** The IPv4 addresses that an IPv6 address is translated to or tunnelled to. */
function carriedIn(address: AddressBytes): readonly AddressBytes[] {
  const isIn = (block: AddressBlock) => isInBlock(address, block);
  if (isIn(mapped) || isIn(translated)) return [address.slice(12)];
  if (isIn(sixToFour)) return [address.slice(2, 6)];
  // The server, and the client with its bits inverted (RFC 4380 §4).
  if (isIn(teredo)) return [address.slice(4, 8), address.slice(12).map((byte) => byte ^ 0xff)];
  return [];
}

const globalUnicast = blockOf('2000::/3');
/** RFC 4291 §2.5.5.2. */
const mapped = blockOf('::ffff:0:0/96');
/** NAT64 (RFC 6052 §2.1). */
const translated = blockOf('64:ff9b::/96');
/** RFC 3056 §2. */
const sixToFour = blockOf('2002::/16');
/** RFC 4380 §2.6. */
const teredo = blockOf('2001::/32');

const thisMachine = 'an address of this machine';
const loopback = 'a loopback address';
const isPrivate = 'a private address';
const linkLocal = 'a link-local address';
const documentation = 'an address for documentation';
const multicast = 'a multicast address';
const reserved = 'a reserved address';

/**
 * The IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890, RFC 8190), and the multicast registries.
 * Globally reachable entries are left out, unless a larger block here contains them.
 */
const specialBlocks = (
  [
    ['0.0.0.0/8', thisMachine], // RFC 791 §3.2
    ['10.0.0.0/8', isPrivate], // RFC 1918
    ['100.64.0.0/10', 'a shared address of a provider'], // RFC 6598
    ['127.0.0.0/8', loopback], // RFC 1122 §3.2.1.3
    // Azure gives its machines' credentials to requests at this public address.
    ['168.63.129.16/32', 'the address of a cloud service for its machines'],
    ['169.254.0.0/16', linkLocal], // RFC 3927
    ['172.16.0.0/12', isPrivate], // RFC 1918
    ['192.0.0.0/24', reserved], // RFC 6890 §2.1
    ['192.0.2.0/24', documentation], // RFC 5737
    ['192.88.99.0/24', reserved], // RFC 7526
    ['192.168.0.0/16', isPrivate], // RFC 1918
    ['198.18.0.0/15', 'an address for benchmarks'], // RFC 2544
    ['198.51.100.0/24', documentation], // RFC 5737
    ['203.0.113.0/24', documentation], // RFC 5737
    ['224.0.0.0/4', multicast], // RFC 5771
    ['255.255.255.255/32', 'the broadcast address'], // RFC 919
    ['240.0.0.0/4', reserved], // RFC 1112 §4
    ['::/128', thisMachine], // RFC 4291 §2.5.2
    ['::1/128', loopback], // RFC 4291 §2.5.3
    ['2001::/23', reserved], // RFC 2928: protocols, benchmarks and identifiers
    ['2001:db8::/32', documentation], // RFC 3849
    ['3fff::/20', documentation], // RFC 9637
    ['fc00::/7', isPrivate], // RFC 4193
    ['fe80::/10', linkLocal], // RFC 4291 §2.5.6
    ['fec0::/10', isPrivate], // RFC 3879
    ['ff00::/8', multicast], // RFC 4291 §2.7
  ] as const
).map(([block, kind]) => ({ block: blockOf(block), kind }));

function blockOf(text: string): AddressBlock {
  const block = parseAddressBlock(text);
  if (block === null) throw new Error(`"${text}" is not a block of addresses.`);
  return block;
}
