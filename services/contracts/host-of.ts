/** The host that an address names, without the brackets around an IPv6 address, which no socket and no certificate knows. */
export function hostOf(address: string): string {
  return new URL(address.replace(/^(\w+:\/\/)?/, 'http://')).hostname.replace(/^\[|\]$/g, '');
}
