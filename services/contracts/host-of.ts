/** The host of an address, without the brackets around an IPv6 address, which sockets and certificates do not accept. */
export function hostOf(address: string): string {
  return new URL(address.replace(/^(\w+:\/\/)?/, 'http://')).hostname.replace(/^\[|\]$/g, '');
}
