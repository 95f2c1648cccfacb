import { isIPv6 } from 'node:net';

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const groupsMax = 8;
const networkGroups = 4;

/**
 * The network of an address, to count one sender once. It is an IPv4 address, or the /64 of an IPv6 address, in which a
 * host can take any address.
 */
export function networkOf(address: string): string {
  const [host = ''] = address.split('%');
  if (!isIPv6(host)) return host;
  const [, ipv4] = mapped.exec(host) ?? [];
  if (ipv4 !== undefined) return ipv4;
  const groups = groupsOf(host);
  return `${groups.slice(0, networkGroups).join(':')}::/64`;
}

const siteGroups = 3;

/**
 * The /48 around the /64 of `networkOf`; null for an IPv4 address. One customer often has a whole /48, and takes any /64
 * of it.
 */
export function siteOf(network: string): string | null {
  const [host = '', size] = network.split('/');
  return size === '64' ? `${groupsOf(host).slice(0, siteGroups).join(':')}::/48` : null;
}

function groupsOf(host: string): readonly string[] {
  const [head = [], tail = []] = host.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: Math.max(0, groupsMax - head.length - tail.length) }, () => '0');
  return [...head, ...zeros, ...tail];
}
