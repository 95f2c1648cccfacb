import type { IncomingMessage } from 'node:http';
import { type AddressBlock, type AddressBytes, isInBlock, parseAddress } from '../../contracts/address-block.ts';

/** A request passes a few proxies. A longer list is a client's invention. */
const proxiesMax = 32;

/** The parts of a request that name its client. */
interface ClientRequest extends Pick<IncomingMessage, 'headers'> {
  readonly socket: { readonly remoteAddress?: string | undefined };
}

export interface Senders {
  readonly trustedProxies: readonly AddressBlock[];
  /** The sender has proved that it is the platform's own proxy, whatever its address. */
  readonly isFromFront?: boolean;
}

/**
 * The address of the client. A trusted proxy names its own client at the end of X-Forwarded-For, which may contain
 * anything before: so the list is read from its end, as far as the proxies are trusted.
 */
export function clientAddress(
  { socket, headers }: ClientRequest,
  { trustedProxies, isFromFront = false }: Senders,
): string {
  let client = parse(socket.remoteAddress ?? '');
  if (client === null) return 'unknown';
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').slice(-proxiesMax);
  for (let isProxy = isFromFront || isTrusted(client, trustedProxies); isProxy; ) {
    const before = parse(withoutPort(forwarded.pop()?.trim() ?? ''));
    if (before === null) break;
    client = before;
    isProxy = isTrusted(client, trustedProxies);
  }
  return format(client);
}

function isTrusted(address: AddressBytes, trustedProxies: readonly AddressBlock[]): boolean {
  return trustedProxies.some((block) => isInBlock(address, block));
}

/** Some proxies add the port: 192.0.2.1:4711, and [2001:db8::1]:4711 (RFC 7239 §6). */
function withoutPort(text: string): string {
  const [, bracketed, ipv4] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  return bracketed ?? ipv4 ?? text;
}

const mappedPrefix = [...new Array<number>(10).fill(0), 0xff, 0xff];

/** A socket of IPv6 shows an IPv4 address in its mapped form (RFC 4291 §2.5.5.2). */
function parse(text: string): AddressBytes | null {
  const bytes = parseAddress(text);
  const isMapped = bytes?.length === 16 && mappedPrefix.every((byte, at) => bytes[at] === byte);
  return isMapped ? bytes.slice(mappedPrefix.length) : bytes;
}

/** In one form, because a client is counted by it. */
function format(bytes: AddressBytes): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
